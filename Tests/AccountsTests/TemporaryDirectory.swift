import Foundation
import Glibc
import Testing

/// A new, empty directory that is removed with everything in it when the last reference goes.
final class TemporaryDirectory: Sendable {
  /// The absolute path.
  let path: String

  /// Makes the directory.
  init() throws {
    let url = FileManager.default.temporaryDirectory
      .appending(path: "AccountsTests-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    path = url.path
  }

  deinit {
    try? FileManager.default.removeItem(atPath: path)
  }

  /// The names of the files in it.
  var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: path) }
  }

  /// Writes a file that anybody with `mode` may use.
  func write(_ text: String, to name: String, mode: Int = 0o600) throws {
    let file = path + "/" + name
    try Data(text.utf8).write(to: URL(filePath: file))
    try setMode(mode, of: name)
  }

  /// The text of a file.
  func read(_ name: String) throws -> String {
    String(decoding: try Data(contentsOf: URL(filePath: path + "/" + name)), as: UTF8.self)
  }

  /// Who may use a file; nil when there is none.
  func mode(of name: String) -> Int? {
    var status = stat()
    guard stat(path + "/" + name, &status) == 0 else { return nil }
    return Int(status.st_mode & 0o777)
  }

  /// Changes who may use a file.
  func setMode(_ mode: Int, of name: String) throws {
    try #require(chmod(path + "/" + name, mode_t(mode)) == 0)
  }

  /// Makes a symbolic link.
  func link(_ name: String, to target: String) throws {
    try FileManager.default.createSymbolicLink(
      atPath: path + "/" + name, withDestinationPath: target)
  }
}
