import CICU

/// Properties of characters that Swift's `Unicode.Scalar.Properties` lacks, by ICU.
///
/// Source: Unicode Standard Annex 44, "Unicode Character Database".
extension Unicode.Scalar {
  /// Whether it is the wide or narrow form of another character, such as a full-width letter.
  package var isWidthVariant: Bool { cicu_is_width_variant(value) != 0 }
  /// Whether it is a conjoining jamo, a part of a syllable in old Hangul.
  package var isConjoiningJamo: Bool { cicu_is_conjoining_jamo(value) != 0 }
  /// Its class in the bidirectional algorithm; nil for classes that ``TextDirection`` does not list.
  package var direction: TextDirection? { TextDirection(rawValue: cicu_direction(value)) }
  /// Its script; nil for scripts that ``TextScript`` does not list.
  package var script: TextScript? { TextScript(rawValue: cicu_script(value)) }
}

/// A class of the bidirectional algorithm (Unicode Standard Annex 9), with ICU's number.
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

/// A script that a rule uses, with ICU's number.
package enum TextScript: Int32, Sendable {
  case greek = 14
  case han = 17
  case hebrew = 19
  case hiragana = 20
  case katakana = 22
}
