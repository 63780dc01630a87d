import Documents

/// A guest's, user's or list's id: 128 random bits as 32 lower-case hex digits. Never derived from
/// a name.
package struct AccountID: ByteString {
  /// The 32 digits.
  package let text: String

  /// Takes 32 lower-case hex digits; nil for any other text.
  package init?(_ text: String) {
    guard text.utf8.count == 32, Hex.bytes(text.utf8) != nil else { return nil }
    self.text = text
  }

  /// A new id.
  package static func random(using generator: inout some RandomNumberGenerator) -> AccountID {
    AccountID(high: generator.next(), low: generator.next())
  }

  private init(high: UInt64, low: UInt64) { text = Hex.string(high, low) }
}
