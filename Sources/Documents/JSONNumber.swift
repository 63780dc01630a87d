/// A number exactly as a text writes it: `1`, `1.0` and `10e-1` are three different values here, so
/// what was stored is what is answered.
package struct JSONNumber: Sendable, Hashable {
  /// The number in the grammar of RFC 8259 section 6, in ASCII.
  package let text: String

  /// An integer in decimal.
  package init(_ integer: Int) {
    text = String(integer)
  }

  /// A number from its text; `nil` if that is not exactly one JSON number within the limits of
  /// ``JSONLimits/document``.
  package init?(text: String) {
    let bytes = Array(text.utf8)
    guard let end = try? Self.end(in: bytes.span, from: 0, limits: .document), end == bytes.count
    else { return nil }
    self.text = text
  }

  /// A number that a parser has checked.
  init(checked text: String) {
    self.text = text
  }

  /// The value, if it is written as an integer, without a point or an exponent, and fits.
  package var int: Int? {
    Int(text)
  }

  /// The nearest double: for arithmetic only, never for what is stored. `nil` never occurs for a
  /// number within the default limits.
  package var double: Double? {
    Double(text)
  }
}
