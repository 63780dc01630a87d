import Catalogue
import Glibc
import Lanes
import SQLiteEngine

/// Replaces the embedded upstream's hotels from the command line. A running server uses the new ones.
package enum CatalogueAdministration {
  /// Imports a JSON array or NDJSON.
  /// - Parameter file: a path, or `-` for standard input.
  /// - Parameter strict: whether one bad row refuses the whole file.
  /// - Parameter progress: receives the progress from 0 to 1 (nil if it is unknown), and words.
  /// - Parameter badRow: receives a line for each bad row.
  /// - Returns: one line that says what was imported.
  /// - Throws: `DataDirectoryError` if there is no data directory; `CatalogueError`, after which the old catalogue
  ///   remains.
  package static func importHotels(
    from file: String, into data: String, strict: Bool,
    progress: @escaping @Sendable (Double?, String) -> Void,
    badRow: @escaping @Sendable (String) -> Void
  ) async throws -> String {
    try FileEngine.requireDirectory(data)
    let path = file == "-" ? "/dev/stdin" : file
    var status = stat()
    let size = stat(path, &status) == 0 ? Int(status.st_size) : nil
    let lane = Lane(name: "import")
    let run = CatalogueImport(
      into: data, on: lane, name: path.split(separator: "/").last.map(String.init) ?? path,
      at: SystemClock.now(), onBadRow: strict ? .refuse : .skip
    ) { event in
      switch event {
      case .progress(let state):
        let fraction = size.flatMap { $0 > 0 ? min(0.99, Double(state.bytes) / Double($0)) : nil }
        progress(fraction, "\(state.rows) hotels")
      case .badRow(let row):
        badRow("line \(row.line): \(row.reason)")
      }
    }
    let summary: ImportSummary
    do { summary = try await run.run(file: path) } catch {
      await lane.stop()
      throw error
    }
    await lane.stop()
    progress(1, "\(summary.progress.rows) hotels")
    return "imported \(summary.hotels) hotels; \(summary.progress.badRows) bad rows left out, "
      + "\(summary.progress.replaced) replaced by a later row of the same id"
  }
}
