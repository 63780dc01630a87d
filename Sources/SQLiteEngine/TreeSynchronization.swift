import Scheduling

/// Syncs many files to the disk. Several threads wait at the same time, because the disk serves several syncs together.
/// One after another, the syncs would take most of a restoration's time.
enum TreeSynchronization {
  /// The number of threads that wait at the same time.
  private static let waitingAtOnce = 8

  /// Syncs everything in the directories below a path, including their entries, but not the entries of the path itself.
  static func run(below path: String) async throws(BackupError) {
    let failure = await ThreadPool.with(name: "sync", threads: waitingAtOnce) { threads in
      await synchronize(below: path, threads)
    }
    if let failure { throw BackupError(failure) }
  }

  private static func synchronize(below path: String, _ threads: ThreadPool) async -> SystemError? {
    let names: [String]
    do throws(SystemError) {
      names = try await threads.run { () throws(SystemError) in try Disk.names(in: path) ?? [] }
    } catch { return error }
    return await withTaskGroup(of: SystemError?.self) { group in
      for name in names {
        group.addTask { await threads.run { Self.failure(below: path + "/" + name) } }
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
