import Lanes
import SQLite

/// Puts many files on the disk. Several threads wait at once, as waiting for one disk is work that calls share:
/// one after the other they would take most of a restoration's time.
enum TreeSynchronization {
  /// How many wait at once.
  private static let waitingAtOnce = 8

  /// Puts all that is in the directories below a path on the disk, those directories' entries too, but not the
  /// path's own.
  static func run(below path: String) async throws(BackupError) {
    let lanes = LaneGroup(count: waitingAtOnce, name: "sync")
    let failure = await synchronize(below: path, lanes)
    await lanes.stop()
    if let failure { throw BackupError(failure) }
  }

  private static func synchronize(below path: String, _ lanes: LaneGroup) async -> SystemError? {
    let names: [String]
    do throws(SystemError) {
      names = try await LaneWork(lanes.next()).run { () throws(SystemError) in
        try Disk.names(in: path) ?? []
      }
    } catch { return error }
    return await withTaskGroup(of: SystemError?.self) { group in
      for name in names {
        let (work, directory) = (LaneWork(lanes.next()), path + "/" + name)
        group.addTask { await work.run { Self.failure(below: directory) } }
      }
      var failure: SystemError?
      for await error in group { failure = failure ?? error }
      return failure
    }
  }

  private static func failure(below path: String) -> SystemError? {
    do throws(SystemError) {
      try Disk.synchronizeTree(path)
      return nil
    } catch { return error }
  }
}
