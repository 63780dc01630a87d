import Documents
import FoundationEssentials
import Glibc
import HTTPAPI
import SQLiteEngine
import Scheduling
import Stores

/// The backups in one directory: those that the server makes at regular times, and those that the administrator starts
/// without a path. Each has the time of its beginning as its name, as `2026-11-28T005107.123Z`. Other entries of the
/// directory are neither shown nor removed.
struct KeptBackups: Sendable {
  /// The directory's absolute path. An operator may replace it by a link to another disk.
  let directory: String

  /// - Throws: `unreachable` for a directory that is absent and can't be made.
  func make() async throws {
    let directory = directory
    if let failure = await onThread({ StoreBackups.makeDirectory(directory) }) {
      throw BackupError(
        .unreachable, "The directory of backups \(directory) can't be made: \(failure)")
    }
  }

  /// The path for a backup that begins now.
  func path(at time: Timestamp) -> String { directory + "/" + time.rfc3339.filter { $0 != ":" } }

  /// All backups, the newest first; none if the directory is absent.
  func all() async -> [Administration.Backup] {
    let directory = directory
    return await onThread {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
      return names.sorted { $1 < $0 }.compactMap { name in
        Self.time(of: name).map { time in
          let isWhole = FileManager.default.fileExists(
            atPath: "\(directory)/\(name)/\(BackupManifest.name)")
          return Administration.Backup(name: name, madeAt: time, isWhole: isWhole)
        }
      }
    }
  }

  /// The path of a backup.
  /// - Throws: `missing` if there is none of that name.
  func path(of name: String) async throws -> String {
    guard await all().contains(where: { $0.name.equalsBytes(of: name) }) else {
      throw ServiceError(.missing, "There is no backup of this name")
    }
    return directory + "/" + name
  }

  /// Makes the directory if it is missing, and a backup in it.
  /// - Parameter backUp: makes the backup at a path.
  /// - Throws: `unreachable`; the errors of `backUp`.
  func add(
    _ backUp: (_ path: String) async throws -> AdministrationJobs.Outcome
  ) async throws -> AdministrationJobs.Outcome {
    try await make()
    let path = path(at: SystemClock.now())
    return Self.outcome(try await backUp(path), of: path.dropFirst(directory.count + 1))
  }

  private static func outcome(
    _ outcome: AdministrationJobs.Outcome, of name: some StringProtocol
  ) -> AdministrationJobs.Outcome {
    .init("\(name): \(outcome.message)", isDamaged: outcome.isDamaged)
  }

  /// Looks through a backup for damage.
  /// - Throws: `missing`; ``BackupError``, `CancellationError`.
  func verify(
    _ name: String, _ reporter: ScrubReporter
  ) async throws -> AdministrationJobs.Outcome {
    let path = try await path(of: name)
    let counts = try await ThreadPool.with(name: "verify") { threads in
      try await threads.run { try DirectoryScrub().run(path, reporter) }
    }
    return Self.outcome(.init(counts), of: name)
  }

  /// Removes a backup with all its files.
  /// - Throws: `missing`; `unreachable` if something of it can't be removed.
  func remove(_ name: String) async throws {
    let path = try await path(of: name)
    let isDone = await onThread {
      // Under another name it is no backup, so that nobody takes what is left for one.
      rename(path, path + Self.removed) == 0 && Self.erase(path + Self.removed)
    }
    guard isDone else { throw BackupError(.unreachable, "\(path) can't be removed") }
  }

  /// Removes all but the newest whole backups, and what removals and backups of a database have left that were broken off.
  /// - Parameter time: the present. Backups of a later time were made while the clock was wrong: they stay, and don't count.
  /// - Returns: the names of those that were removed.
  func remove(keeping count: Int, at time: Timestamp) async throws -> [String] {
    let directory = directory
    await onThread {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
      for name in names {
        let path = directory + "/" + name
        for end in [Self.removed, DatabaseBackups.copies] where name.hasSuffix(end) {
          guard Self.time(of: String(name.dropLast(end.count))) != nil, !Self.isLocked(path)
          else { continue }
          _ = Self.erase(path)
        }
      }
    }
    let old = await all().filter { $0.isWhole && $0.madeAt <= time }.dropFirst(count).map(\.name)
    for name in old { try await remove(name) }
    return old
  }

  /// The end of the name of a backup that is being removed.
  private static let removed = ".removed"

  /// - Returns: false if something of it can't be removed.
  private static func erase(_ path: String) -> Bool {
    (try? FileManager.default.removeItem(atPath: path)) != nil
  }

  /// Whether a process uses a data directory. Another server's backup of a database may be under way here.
  static func isLocked(_ path: String) -> Bool {
    let descriptor = open(path + "/lock", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return flock(descriptor, LOCK_EX | LOCK_NB) != 0
  }

  /// When a backup was begun; nil for a name that is not a backup's.
  private static func time(of name: String) -> Timestamp? {
    let bytes = Array(name.utf8)
    guard bytes.count > 15, bytes[10] == UInt8(ascii: "T") else { return nil }
    let colon = [UInt8(ascii: ":")]
    let text = bytes[..<13] + colon + bytes[13..<15] + colon + bytes[15...]
    let time = Timestamp(rfc3339: String(decoding: text, as: UTF8.self))
    return time.flatMap { $0.rfc3339.filter { $0 != ":" } == name ? $0 : nil }
  }

  private func onThread<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
    await ThreadPool.with(name: "backups") { threads in await threads.run(work) }
  }
}
