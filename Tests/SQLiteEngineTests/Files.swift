import Foundation

/// A file's bytes.
func contents(_ path: String) throws -> [UInt8] {
  try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
}

/// Replaces a file's bytes.
func write(_ bytes: [UInt8], to path: String) throws {
  try Data(bytes).write(to: URL(fileURLWithPath: path))
}

/// Removes a file.
func remove(_ path: String) throws { try FileManager.default.removeItem(atPath: path) }
