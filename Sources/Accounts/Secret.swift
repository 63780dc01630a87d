import Documents

/// A text that nobody may read by accident: a password or a token. It prints as `•••` wherever it is
/// interpolated, dumped or reflected, and compares in time that does not tell where two secrets differ.
package struct Secret: Sendable, Equatable, CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  private let text: String

  /// Takes the text over.
  package init(_ text: String) { self.text = text }

  /// The text itself, for the one place that hashes it or answers it to its owner.
  package var exposed: String { text }

  /// Its length in bytes of UTF-8.
  package var byteCount: Int { text.utf8.count }

  /// Compares every byte, whatever came before.
  package static func == (left: Secret, right: Secret) -> Bool {
    constantTimeEqual(Array(left.text.utf8), Array(right.text.utf8))
  }

  package var description: String { "•••" }
  package var debugDescription: String { "•••" }
  package var customMirror: Mirror { Mirror(self, children: EmptyCollection()) }

  /// Whether two byte strings are the same, in time that depends on their lengths alone.
  static func constantTimeEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    guard left.count == right.count else { return false }
    var difference: UInt8 = 0
    for (one, other) in zip(left, right) { difference |= one ^ other }
    return difference == 0
  }
}

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
