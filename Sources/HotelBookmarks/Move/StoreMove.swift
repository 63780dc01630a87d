import Accounts
import PostgresEngine
import Stores

/// Copies all stores of one engine to another, which no one else may use meanwhile. ``LiveMove`` copies those of a
/// running server.
struct StoreMove: Sendable {
  /// How many stores are copied at the same time. While one waits for the disk or the database, others are read.
  static let copiesAtOnce = 4

  let source: any CopyingEngine
  let target: any CopyingEngine
  /// Whether other processes may use the source meanwhile, as for a backup.
  let whileUsed: Bool

  init(from source: any CopyingEngine, to target: any CopyingEngine, whileUsed: Bool = false) {
    self.source = source
    self.target = target
    self.whileUsed = whileUsed
  }

  /// What was moved.
  struct Summary: Sendable {
    /// Stores that were copied and compared.
    var stores = 0
    /// Documents of these, tombstones included.
    var documents: Int64 = 0
    /// Bytes of their bodies.
    var bytes: Int64 = 0
    /// Stores that an earlier, interrupted move had copied.
    var earlier = 0
    /// Stores that were not copied because they are damaged or can't be read.
    var damaged = 0
    /// Damaged stores of which the sound rows were copied.
    var incomplete = 0

    /// - Parameter copied: the outcome, nil for a damaged store, and whether all rows were copied.
    mutating func add(_ copied: (outcome: StoreTransfer.Outcome?, isWhole: Bool)) {
      if !copied.isWhole, copied.outcome != nil { incomplete += 1 }
      switch copied.outcome {
      case nil: damaged += 1
      case .copied(let documents, let bytes):
        stores += 1
        self.documents += documents
        self.bytes += bytes
      case .alreadyThere: earlier += 1
      case .absent: break
      }
    }
  }

  /// Copies every store.
  ///
  /// In a move the accounts come last, because without them no one can use the target. A store that can't be read is
  /// reported and left out; then the accounts are left out too. While the source is used, the accounts come first, so
  /// that a guest who becomes a user meanwhile is still a guest with all bookmarks.
  /// - Throws: ``SettingsError`` when the target has a later state of a store; the errors of both engines.
  func run(_ report: BackupAdministration.Report) async throws -> Summary {
    try await target.removeUnfinishedCopies()
    var summary = Summary()
    let total = try await Self.count(in: source) + 1
    var done = 0
    for line in try await source.registryDamage() {
      report.finding(line)
      summary.damaged += 1
    }
    if whileUsed { summary.add(try await copy(.system, report)) }
    for namespace in StoreName.namespaces where namespace != StoreName.system.namespace {
      try await Self.eachPage(of: namespace, in: source) { names in
        try await Self.each(names, { try await copy($0, report) }) { outcome in
          summary.add(outcome)
          done += 1
          report.stores(done, of: total)
        }
      }
    }
    if !whileUsed, summary.damaged == 0 {
      _ = try await NameDifference(source: source, target: target).settle()
      summary.add(try await copy(.system, report))
    }
    try await target.removeUnfinishedCopies()
    return summary
  }

  static func isEmpty(_ engine: any CopyingEngine) async throws -> Bool {
    for namespace in StoreName.namespaces {
      guard try await engine.names(in: namespace, after: nil, limit: 1).isEmpty else {
        return false
      }
    }
    return true
  }

  /// How many stores there are beside the accounts'.
  static func count(in engine: any CopyingEngine) async throws -> Int {
    var count = 0
    for namespace in StoreName.namespaces where namespace != StoreName.system.namespace {
      try await Self.eachPage(of: namespace, in: engine) { count += $0.count }
    }
    return count
  }

  /// Visits the names of a namespace, in byte order.
  static func eachPage(
    of namespace: String, in engine: any StorageEngine,
    _ visit: ([StoreName]) async throws -> Void
  ) async throws {
    var cursor = NameCursor(in: namespace, of: engine)
    while true {
      let names = try await cursor.nextPage()
      guard !names.isEmpty else { return }
      try await visit(names)
    }
  }

  /// Copies stores, ``copiesAtOnce`` at the same time.
  /// - Parameter take: receives the outcome of each, in any order.
  /// - Throws: `CancellationError`; the first error of `copy`.
  static func each<Outcome: Sendable>(
    _ names: [StoreName], atOnce: Int = copiesAtOnce,
    _ copy: @escaping @Sendable (StoreName) async throws -> Outcome,
    _ take: (Outcome) -> Void
  ) async throws {
    try await withThrowingTaskGroup(of: Outcome.self) { group in
      for (index, name) in names.enumerated() {
        try Task.checkCancellation()
        if index >= atOnce, let outcome = try await group.next() { take(outcome) }
        group.addTask { try await copy(name) }
      }
      for try await outcome in group { take(outcome) }
    }
  }

  /// - Returns: nil for a damaged store.
  private func copy(
    _ name: StoreName, _ report: BackupAdministration.Report
  ) async throws -> (outcome: StoreTransfer.Outcome?, isWhole: Bool) {
    let transfer = StoreTransfer(from: source, to: target, whileUsed: whileUsed)
    func whole() async throws -> StoreTransfer.Outcome? {
      try await Self.reportingDamage(of: name, { report.finding($0) }, reading) {
        try await transfer.copy(name)
      }
    }
    // The source of a move stays, and has all that can be read of a damaged store.
    if !whileUsed { return (try await whole(), true) }
    do { return (try await transfer.copy(name), true) } catch let error as ServiceError
      where StoreBackups.isDamage(error)
    {
      let outcome = try await Self.reportingDamage(of: name, { report.finding($0) }, reading) {
        guard let (reader, damage) = try await source.soundRowReader(of: name) else { throw error }
        for line in damage { report.finding("\(name.key): \(line)") }
        return try await closing(reader.close) { try await transfer.copy(name, from: reader) }
      }
      return (outcome, false)
    } catch let error as ServiceError where error.code == .storage {
      return (try await whole(), true)
    } catch let error as ServiceError where error.code == .absent { return (.absent, true) }
  }

  /// Reads all rows of a store of the source.
  private func reading(_ name: StoreName) async throws {
    guard let reader = try await source.rowReader(of: name, whileUsed: whileUsed) else { return }
    try await closing(reader.close) {
      var walk = try await RowWalk(over: reader)
      _ = try await walk.run()
    }
  }

  /// Runs the copy of a store, and once more after an error of a disk that has passed.
  /// - Parameter report: receives a line about damage.
  /// - Parameter reading: reads all rows of the original. Only this tells which of two disks has failed.
  /// - Returns: nil for a store that is damaged or on a part of the disk that can't be read. It is reported.
  /// - Throws: ``SettingsError`` when the target has a later state of the store; the errors of both engines.
  static func reportingDamage(
    of name: StoreName, _ report: (String) async -> Void,
    _ reading: (StoreName) async throws -> Void, _ copy: () async throws -> StoreTransfer.Outcome
  ) async throws -> StoreTransfer.Outcome? {
    var isRepeated = false
    while true {
      do { return try await copy() } catch let error as ServiceError
        where StoreBackups.isDamage(error)
      {
        await report("\(name.key): \(error.message)")
        return nil
      } catch let error as ServiceError where error.code == .absent {
        // It was erased after the names were listed.
        return .absent
      } catch let error as ServiceError where error.code == .exists {
        throw SettingsError("\(error.reason): \(name.key); move into an empty place")
      } catch let error as ServiceError where error.code == .storage && !isRepeated {
        isRepeated = true
        do { try await reading(name) } catch let error as ServiceError
          where StoreBackups.isOfOneFile(error)
        {
          await report("\(name.key): \(error.message)")
          return nil
        }
      }
    }
  }
}

/// Hands over what is in files of a data directory and, for the servers of a database, in the database: the log of erased
/// stores, the keys that sign tokens, the administrator's password and an imported catalogue.
struct FileHandover: Sendable {
  let source: any CopyingEngine
  /// Has all stores of `source` already.
  let target: any CopyingEngine
  /// The data directory of one of the two.
  let directory: String

  /// Hands over. May be repeated.
  /// - Throws: `keys` for a file or a document that is damaged; the errors of both endpoints.
  func run() async throws {
    let stores = DatabaseManager(engine: target, maximumOpen: 1, now: SystemClock.now)
    try await closing(stores.close) { try await run(stores) }
  }

  private func run(_ stores: DatabaseManager) async throws {
    try await source.visitErasures { try await target.noteErasures(of: $0) }
    let secrets = SecretTransfer(
      keys: DataFiles.keys(in: directory), administrator: DataFiles.administrator(in: directory),
      stores: stores)
    if let database = target as? PostgresDatabase {
      try await secrets.writeToStore()
      _ = try await SharedCatalogue(database: database, data: directory).publishImported()
    } else if let database = source as? PostgresDatabase {
      try await secrets.writeToFiles()
      try await SharedCatalogue(database: database, data: directory).catchUp()
    }
  }
}
