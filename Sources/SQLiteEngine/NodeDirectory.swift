import Lanes
import StoreRecords

/// The data directory of a server whose stores are in a database. It is locked against other processes, and has the
/// search cache, the catalogue and the control socket, but no stores.
package final class NodeDirectory: Sendable {
  private let directory: DataDirectory

  /// The directory, absolute, without symbolic links.
  package var path: String { directory.path }

  /// Locks a directory. If only the last element of its path is missing, creates it.
  /// - Throws: ``DataDirectoryError``, also for a directory that has stores; the process should then end.
  package static func open(_ path: String) async throws(DataDirectoryError) -> NodeDirectory {
    let lane = Lane(name: "directory")
    let result: Result<DataDirectory, DataDirectoryError>
    do throws(DataDirectoryError) {
      result = .success(
        try await LaneWork(lane).run { () throws(DataDirectoryError) in
          let directory = try DataDirectory(path)
          // Stores that were moved are not hidden: they are in the database.
          let mark = try? directory.moveMark()
          guard !directory.hasRegistry || mark?.kind == .moved else {
            throw DataDirectoryError(
              .hasStores, "\(path) has stores of its own, which a database would hide",
              detail: "take another --data, or move the stores first")
          }
          return directory
        })
    } catch { result = .failure(error) }
    await lane.stop()
    return NodeDirectory(try result.get())
  }

  private init(_ directory: DataDirectory) { self.directory = directory }

  /// Unlocks the directory for other processes.
  package func close() { directory.unlock() }
}
