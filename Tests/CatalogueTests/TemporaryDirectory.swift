import Foundation

/// A directory of its own for one test, removed with everything in it when the test ends.
final class TemporaryDirectory: Sendable {
  /// Where it is.
  let path: String

  /// Makes a new directory.
  init() throws {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent(
      "catalogue-" + UUID().uuidString)
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    path = url.path
  }

  deinit {
    try? FileManager.default.removeItem(atPath: path)
  }

  /// The names of the files in it, sorted.
  var names: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
  }

  /// The bytes of a file in it.
  func read(_ name: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: URL(fileURLWithPath: path + "/" + name)))
  }

  /// Writes a file in it.
  func write(_ bytes: [UInt8], to name: String) throws {
    try Data(bytes).write(to: URL(fileURLWithPath: path + "/" + name))
  }
}
