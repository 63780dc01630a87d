import Foundation

/// A new, empty directory that is removed with everything in it when the last reference goes.
final class TemporaryDirectory: Sendable {
  /// The absolute path, free of symbolic links.
  let path: String

  /// Makes the directory.
  init() throws {
    let url = FileManager.default.temporaryDirectory
      .resolvingSymlinksInPath()
      .appending(path: "SQLiteTests-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    path = url.path
  }

  deinit {
    try? FileManager.default.removeItem(atPath: path)
  }

  /// The path of a file in the directory, which need not exist.
  func file(_ name: String) -> String {
    path + "/" + name
  }

  /// Writes a file of these bytes and answers its path.
  func write(_ bytes: [UInt8], to name: String) throws -> String {
    let path = file(name)
    try Data(bytes).write(to: URL(filePath: path))
    return path
  }

  /// The bytes of a file.
  func read(_ name: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: URL(filePath: file(name))))
  }
}
