import CICU

/// Properties of characters that Swift's own `Unicode.Scalar.Properties` does not have, by ICU.
///
/// Source: Unicode Standard Annex 44, "Unicode Character Database".
extension Unicode.Scalar {
  /// Whether it is another character's wide or narrow form, such as a full-width letter.
  package var isWidthVariant: Bool { cicu_is_width_variant(value) != 0 }
  /// Whether it is a conjoining jamo, of which old Hangul is written.
  package var isConjoiningJamo: Bool { cicu_is_conjoining_jamo(value) != 0 }
  /// Its class in the bidirectional algorithm; nil for classes that are not told apart here.
  package var direction: TextDirection? { TextDirection(rawValue: cicu_direction(value)) }
  /// Its script; nil for scripts that are not told apart here.
  package var script: TextScript? { TextScript(rawValue: cicu_script(value)) }
}

/// A class of the bidirectional algorithm (Unicode Standard Annex 9), by ICU's number.
package enum TextDirection: Int32, Sendable {
  case leftToRight = 0
  case rightToLeft = 1
  case europeanNumber = 2
  case europeanSeparator = 3
  case europeanTerminator = 4
  case arabicNumber = 5
  case commonSeparator = 6
  case otherNeutral = 10
  case arabicLetter = 13
  case nonspacingMark = 17
  case boundaryNeutral = 18
}

/// A script that a rule asks for, by ICU's number.
package enum TextScript: Int32, Sendable {
  case greek = 14
  case han = 17
  case hebrew = 19
  case hiragana = 20
  case katakana = 22
}
