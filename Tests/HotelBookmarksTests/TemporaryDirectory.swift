import Foundation
import SQLiteEngine

/// A new, empty directory that is removed with everything in it when the last reference goes.
final class TemporaryDirectory: Sendable {
  /// The absolute path.
  let path: String

  /// Makes the directory.
  init() throws {
    let url = FileManager.default.temporaryDirectory
      .appending(path: "HotelBookmarksTests-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    path = url.path
  }

  deinit {
    try? FileManager.default.removeItem(atPath: path)
  }
}

extension TemporaryDirectory {
  /// Makes a data directory, as the first start of a server does.
  static func withData() async throws -> TemporaryDirectory {
    let directory = try TemporaryDirectory()
    await (try FileEngine.open(directory: directory.path)).close()
    return directory
  }
}
