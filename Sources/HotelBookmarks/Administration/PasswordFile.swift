import Accounts
import Glibc

/// Passwords that an operator supplies in a file. They are never arguments or in the environment, because other
/// processes can read those.
package enum PasswordFile {
  private static let maximumBytes = 64 * 1_024

  /// The password in a file, without its last line break. Links are followed and the mode is not checked, because
  /// container platforms supply secrets as links that a group may read.
  /// - Throws: ``SettingsError`` that names the setting and says why the file can't be used.
  static func password(in path: String, of setting: SettingKey) throws(SettingsError) -> Secret {
    Secret(try text(in: path, of: setting.rawValue))
  }

  /// The same for a file that a command's option names.
  /// - Throws: ``SettingsError`` that names the option and says why the file can't be used.
  package static func text(in path: String, of option: String) throws(SettingsError) -> String {
    let file = Glibc.open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else {
      let cause = String(cString: strerror(errno))
      throw SettingsError("\(option): \(path) can't be opened: \(cause)")
    }
    defer { Glibc.close(file) }
    guard let bytes = content(of: file), !bytes.isEmpty else {
      throw SettingsError("\(option): \(path) can't be read or is empty")
    }
    guard bytes.count <= maximumBytes, let text = String(validating: bytes, as: UTF8.self) else {
      throw SettingsError("\(option): \(path) is too long or no UTF-8")
    }
    return trimmed(text)
  }

  /// The content of a file, but at most one byte more than allowed; nil if reading fails.
  private static func content(of file: Int32) -> [UInt8]? {
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 4_096)
    while bytes.count <= maximumBytes {
      let count = Glibc.read(file, &piece, min(piece.count, maximumBytes + 1 - bytes.count))
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { return nil }
      guard count > 0 else { break }
      bytes += piece.prefix(count)
    }
    return bytes
  }

  /// The text without a line break at its end.
  package static func trimmed(_ text: String) -> String {
    // By bytes: "\r\n" is one Character, which hasSuffix("\n") does not see.
    var bytes = Array(text.utf8)
    if bytes.last == 0x0A { bytes.removeLast() }
    if bytes.last == 0x0D { bytes.removeLast() }
    return String(decoding: bytes, as: UTF8.self)
  }
}
