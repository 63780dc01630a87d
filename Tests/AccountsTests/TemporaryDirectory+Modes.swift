import Glibc
import TestSupport
import Testing

extension TemporaryDirectory {
  /// Writes a file with the permissions `mode`.
  func write(_ text: String, to name: String, mode: Int = 0o600) throws {
    try write(Array(text.utf8), to: name)
    try setMode(mode, of: name)
  }

  /// A file's permissions; nil if there is no such file.
  func mode(of name: String) -> Int? {
    var status = stat()
    guard stat(file(name), &status) == 0 else { return nil }
    return Int(status.st_mode & 0o777)
  }

  /// Changes a file's permissions.
  func setMode(_ mode: Int, of name: String) throws {
    try #require(chmod(file(name), mode_t(mode)) == 0)
  }

  func link(_ name: String, to target: String) throws {
    try #require(symlink(target, file(name)) == 0)
  }
}
