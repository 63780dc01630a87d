import Documents
import Glibc
import HTTPAPI
import SQLiteEngine
import Scheduling
import Stores

/// Makes backups of stores in use, verifies them and repairs them.
struct StoreBackups: Sendable {
  /// How many stores are copied at the same time: one is read while others wait for the backup's disk.
  private static let copiesAtOnce = 4
  /// How often an operation on a store is tried if the store is crowded, or is replaced during its copy.
  private static let attempts = 10
  /// The pause between two attempts.
  private static let pause = Duration.milliseconds(200)

  let engine: FileEngine
  let stores: DatabaseManager
  /// Where backups without a path go; nil for the directory of backups in the data directory.
  var place: String?

  /// The backups without a path.
  var kept: KeptBackups { KeptBackups(directory: place ?? DataFiles.backups(in: directory)) }

  /// The absolute path of the data directory.
  var directory: String { engine.path }

  /// The result of a backup.
  struct Summary: Sendable {
    /// Files of the backup.
    var files = 0
    /// Bytes of these files.
    var bytes: Int64 = 0
    /// Damaged stores that are not in the backup.
    var missing = 0
    /// Findings of damage inside stores that are in the backup.
    var damages = 0

    /// Whether anything in the data directory is damaged.
    var isDamaged: Bool { missing > 0 || damages > 0 }

    /// The result as text.
    var message: String {
      let missing = missing > 0 ? ", \(missing) damaged stores left out" : ""
      let damages = damages > 0 ? ", \(damages) damages in stores that are in it" : ""
      return "\(files) files, \(bytes) bytes\(missing)\(damages)"
    }
  }

  /// Does work on the stores, for a server or for a command without one.
  /// - Throws: ``BackupError``, `ServiceError`, `CancellationError`.
  func perform(
    _ work: StoreWork, _ reporter: ScrubReporter
  ) async throws -> AdministrationJobs.Outcome {
    switch work {
    case .backup(nil): return try await kept.add { try await perform(.backup(to: $0), reporter) }
    case .backup(let path?):
      try requireApart(path)
      let summary = try await backUp(to: path, reporter)
      return .init(summary.message, isDamaged: summary.isDamaged)
    case .verification: return .init(try await verify(reporter))
    case .backupVerification(let name): return try await kept.verify(name, reporter)
    case .repair: return .init(try await repair(reporter))
    case .replacement(let store, let backup):
      return .init(try await replace(store, from: backup, reporter))
    }
  }

  /// Of all backups only the kept ones may be in the data directory: another one is lost with it.
  private func requireApart(_ path: String) throws(BackupError) {
    guard let place = path.parent.realPath,
      (place + "/").utf8.starts(with: (directory + "/").utf8),
      kept.directory.realPath?.equalsBytes(of: place) != true
    else { return }
    throw BackupError(.occupied, "\(path) is in the data directory; a backup there is lost with it")
  }

  /// Makes a directory. It may exist, perhaps through an operator's symbolic link.
  /// - Returns: why it does not exist; nil if it does.
  static func makeDirectory(_ path: String) -> String? {
    if mkdir(path, 0o700) == 0 { return nil }
    let number = errno
    var status = stat()
    guard number == EEXIST else { return String(cString: strerror(number)) }
    let isThere = stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    return isThere ? nil : String(cString: strerror(ENOTDIR))
  }

  /// Makes a backup. Every copy is verified. A store with damage inside is copied as it is.
  ///
  /// The accounts come first: a guest whose bookmarks are being moved to a user is a guest in the backup, with all
  /// bookmarks. The keys come after all stores, so that the tokens for all of them stay valid. The log of erasures
  /// comes last, so that everybody who is erased during the backup is erased again when it is restored.
  /// - Parameter path: an absolute path; see ``BackupWriter``.
  /// - Throws: ``BackupError``, `ServiceError`, `CancellationError`; the incomplete backup is then removed.
  func backUp(to path: String, _ reporter: ScrubReporter) async throws -> Summary {
    try await ThreadPool.with(name: "backup") { threads in
      let writer = Confined(BackupWriter(to: path), to: threads)
      try await writer.run { try $0.begin(made: SystemClock.now(), by: Version.current) }
      do { return try await write(to: writer, reporter) } catch {
        await writer.run { $0.abandon() }
        throw error
      }
    }
  }

  private func write(
    to writer: Confined<BackupWriter>, _ reporter: ScrubReporter
  ) async throws -> Summary {
    var summary = Summary()
    let sum = ScrubSum(ScrubCounts(), to: writer.threads)
    summary.missing = try await each(reporter) { name in
      try await copy(name, to: writer, sum, reporter)
    }
    for finding in try await engine.namelessFindings() + DataFiles.findings(in: directory) {
      await sum.add(finding: finding, reporter)
    }
    summary.damages = await sum.run { $0.findings } - summary.missing
    let directory = directory
    for extra in [BackupManifest.Extra.catalogue, .administrator, .keys, .erasures] {
      try await writer.run { try $0.add(extra, from: directory) }
    }
    try Task.checkCancellation()
    (summary.files, summary.bytes) = try await writer.finish()
    return summary
  }

  /// Verifies every store, by copies.
  /// - Throws: `ServiceError`, `CancellationError`.
  func verify(_ reporter: ScrubReporter) async throws -> ScrubCounts {
    try await ThreadPool.with(name: "verify") { threads in
      let sum = ScrubSum(ScrubCounts(), to: threads)
      for finding in try await engine.registryFindings() + DataFiles.findings(in: directory) {
        await sum.add(finding: finding, reporter)
      }
      _ = try await each(reporter, atOnce: 1) { name in
        try await scrub(name, sum, reporter)
        return true
      }
      return await sum.run { $0 }
    }
  }

  /// Visits every store, first that of the accounts alone. Stores that are created meanwhile may be left out.
  /// - Parameter visit: returns whether the store is sound.
  /// - Returns: how many stores were not sound.
  func each(
    _ reporter: ScrubReporter, atOnce: Int = StoreBackups.copiesAtOnce,
    _ visit: @escaping @Sendable (StoreName) async throws -> Bool
  ) async throws -> Int {
    let total = try await engine.storeCount()
    var (done, failed) = (0, 0)
    func count(_ isGood: Bool) {
      done += 1
      if !isGood { failed += 1 }
      reporter.progress(done, max(done, total))
    }
    count(try await visit(.system))
    for namespace in ["named", "list", "user", "guest"] {
      try await StoreMove.eachPage(of: namespace, in: engine) { names in
        try await StoreMove.each(names, atOnce: atOnce, visit) { count($0) }
      }
    }
    return failed
  }

  /// - Returns: false if the store is damaged and was left out.
  private func copy(
    _ name: StoreName, to writer: Confined<BackupWriter>, _ sum: ScrubSum,
    _ reporter: ScrubReporter
  ) async throws -> Bool {
    let engine = engine
    let path = try await writer.run { try $0.draftPath(of: name) }
    do {
      let epoch = try await using(name) { storage in
        try await engine.copy(storage, to: path)
      }
      guard let epoch else {
        try await writer.run { try $0.drop(name) }
        return true
      }
      let counts = await engine.scrub(
        copyAt: path, of: name, epoch: epoch, on: writer.threads, reporter)
      await sum.run { $0 += counts }
      try await writer.run { try $0.add(name, epoch: epoch) }
      return true
    } catch let error as ServiceError where Self.isOfOneFile(error) {
      let reason = error.message
      try await writer.run { writer in
        // An error of a disk may also be one of the backup's, which ends the backup.
        if error.code == .storage { try writer.requireWritable(for: name) }
        try writer.add(missing: name, reason: reason)
      }
      let file = BackupManifest.relativePath(of: name)
      await sum.add(finding: ScrubFinding(file: file, reason: reason), reporter)
      return false
    }
  }

  private func scrub(_ name: StoreName, _ sum: ScrubSum, _ reporter: ScrubReporter) async throws {
    let engine = engine
    do {
      let counts = try await using(name) { storage in
        try await engine.scrub(storage, of: name, on: sum.threads, reporter)
      }
      if let counts { await sum.run { $0 += counts } }
    } catch let error as ServiceError where Self.isOfOneFile(error) {
      let file = engine.relativePath(of: name)
      await sum.add(finding: ScrubFinding(file: file, reason: error.message), reporter)
    }
  }

  /// Uses a store, and tries again if it is crowded or is replaced meanwhile, and once after an error of the disk.
  /// - Returns: nil for an absent store.
  func using<Value: Sendable>(
    _ name: StoreName, _ work: @Sendable (any StoreStorage) async throws -> Value
  ) async throws -> Value? {
    var attempt = 1
    while true {
      do {
        return try await stores.withStorage(name) { storage -> Value? in
          guard let storage else { return nil }
          return try await work(storage)
        }
      } catch {
        try Task.checkCancellation()
        let code = ServiceError(error)?.code
        // After an error of the disk the store is opened anew: the error may have passed. A disk that answers other bytes
        // than it has makes a file look damaged.
        let isOfDisk = code == .storage || code == .damaged
        guard code == .unavailable && attempt < Self.attempts || isOfDisk && attempt == 1
        else { throw error }
      }
      attempt += 1
      try await Task.sleep(for: Self.pause)
    }
  }

  static func isDamage(_ error: ServiceError) -> Bool {
    error.code == .damaged || error.code == .integrity
  }

  /// Whether an error concerns one store's file, and all others may be sound: damage, or a part of the disk that can't be
  /// read.
  static func isOfOneFile(_ error: ServiceError) -> Bool {
    isDamage(error) || error.code == .storage
  }
}

extension AdministrationJobs.Outcome {
  init(_ counts: ScrubCounts) {
    self.init(Verification.message(for: counts), isDamaged: counts.findings > 0)
  }

  init(_ repair: StoreBackups.Repair) { self.init(repair.message, isDamaged: repair.isDamaged) }
}

/// The sum of several scrubs. It has a thread, because reporting damage may wait for the receiver.
private typealias ScrubSum = Confined<ScrubCounts>

extension ScrubSum {
  /// Adds damage that prevented a scrub.
  fileprivate func add(finding: ScrubFinding, _ reporter: ScrubReporter) async {
    await run { counts in
      counts.findings += 1
      reporter.finding(finding)
    }
  }
}
