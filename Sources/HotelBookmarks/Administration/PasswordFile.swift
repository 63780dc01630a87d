import Accounts
import Foundation

/// Passwords that an operator hands over in a file: never as an argument or in the environment, which other
/// processes can read.
package enum PasswordFile {
  /// The longest file, in bytes.
  private static let maximumBytes = 64 * 1_024

  /// The password in a file, its last line break ignored. Links are followed and the mode is not looked at:
  /// container platforms hand secrets over as links that a group may read.
  /// - Throws: ``SettingsError`` that names the setting and says why the file can't be used.
  static func password(in path: String, of setting: SettingKey) throws(SettingsError) -> Secret {
    guard let handle = FileHandle(forReadingAtPath: path) else {
      throw SettingsError(description: "\(setting.rawValue): \(path) can't be opened")
    }
    // It throws only for a handle that is closed already.
    defer { try? handle.close() }
    guard let data = try? handle.read(upToCount: maximumBytes + 1) else {
      throw SettingsError(description: "\(setting.rawValue): \(path) can't be read or is empty")
    }
    guard data.count <= maximumBytes, let text = String(validating: data, as: UTF8.self) else {
      throw SettingsError(description: "\(setting.rawValue): \(path) is too long or no UTF-8")
    }
    return Secret(trimmed(text))
  }

  /// A text without the line break at its end.
  package static func trimmed(_ text: String) -> String {
    // By bytes: "\r\n" is one Character, which hasSuffix("\n") does not see.
    var bytes = Array(text.utf8)
    if bytes.last == 0x0A { bytes.removeLast() }
    if bytes.last == 0x0D { bytes.removeLast() }
    return String(decoding: bytes, as: UTF8.self)
  }
}
