import Documents

/// What the header of a token names its key by: 16 lower-case hex digits, compared by bytes and used for
/// nothing but finding one of our own keys.
package struct KeyID: ByteString {
  /// The digits.
  package let text: String

  /// Takes 16 lower-case hex digits; nil for any other text.
  package init?(_ text: String) {
    guard text.utf8.count == 16, Hex.bytes(text.utf8) != nil else { return nil }
    self.text = text
  }
}
