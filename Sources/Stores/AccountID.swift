import Documents

/// The id of a guest, a user or a list: 128 random bits as 32 lower-case hex digits. It is never computed
/// from a name.
package struct AccountID: ByteString {
  /// The 32 digits.
  package let text: String

  /// Creates an id from 32 lower-case hex digits; nil for any other text.
  package init?(_ text: String) {
    guard text.utf8.count == 32, Hex.bytes(text.utf8) != nil else { return nil }
    self.text = text
  }

  package static func random() -> AccountID {
    var generator = SystemRandomNumberGenerator()
    return random(using: &generator)
  }

  /// For tests that name the same accounts in each run.
  package static func random(using generator: inout some RandomNumberGenerator) -> AccountID {
    AccountID(high: generator.next(), low: generator.next())
  }

  private init(high: UInt64, low: UInt64) { text = Hex.string(high, low) }
}
