package import Lanes

/// Brings back the catalogue that the last import replaced. Calls block, so they run on a lane.
package actor CatalogueUndo {
  private let files: CatalogueFiles
  private let lane: Lane

  package nonisolated var unownedExecutor: UnownedSerialExecutor {
    lane.asUnownedSerialExecutor()
  }

  /// Makes a value for a data directory, which must exist.
  /// - Parameter lane: the caller stops it afterwards.
  package init(in directory: String, on lane: Lane) {
    files = CatalogueFiles(directory: directory)
    self.lane = lane
  }

  /// Replaces the catalogue by the former one, in one step. Searches use it within a second.
  /// - Returns: the origin of the catalogue that is back.
  /// - Throws: `noFormer`; `busy` during an import; `damaged` and `unavailable` for a former catalogue that this version
  ///   can't use, `storageFull`. The catalogue is unchanged then.
  package func run() throws(CatalogueError) -> CatalogueOrigin {
    let lock = try ImportLock(files)
    defer { withExtendedLifetime(lock) {} }
    guard files.hasFormer else { throw Self.noFormer }
    let origin = try OpenCatalogue.origin(ofFile: files.former)
    try files.restoreFormer()
    return origin
  }

  /// The error when there is nothing to bring back.
  package static let noFormer = CatalogueError(
    .noFormer, "There is no former catalogue: nothing was imported since the last undo.")
}
