import CICU

/// A normal form of Unicode. The raw values are those of `cicu_normalize`.
///
/// Source: Unicode Standard Annex 15, "Unicode Normalization Forms".
package enum NormalForm: Int32, Sendable {
  /// Normal form C: different encodings of a character, such as a composed and a decomposed "é", become the same.
  case canonical = 0
  /// Normal form KC: variants of a character, such as a full-width letter and the plain one, also become the same.
  case compatible
  /// Normal form KD: as KC, and each accent is a character of its own.
  case compatibleDecomposed
}

extension String {
  /// The text in a normal form; the unchanged text when ICU fails for lack of memory.
  ///
  /// A Swift string has no unpaired surrogates, so that the conversion to UTF-16 and back loses nothing.
  package func normalized(_ form: NormalForm) -> String {
    // ASCII is in every normal form.
    if utf8.allSatisfy({ $0 < 0x80 }) { return self }
    let text = Array(utf16)
    // The result is usually as long as the text; otherwise ICU returns the required length.
    var capacity = text.count
    for _ in 1...2 {
      var status: Int32 = 0
      var result = [UInt16](repeating: 0, count: capacity)
      let count = Int(
        cicu_normalize(
          form.rawValue, text, Int32(clamping: text.count), &result,
          Int32(clamping: capacity), &status))
      if status <= 0, (0...capacity).contains(count) {
        return String(decoding: result.prefix(count), as: UTF16.self)
      }
      guard count > capacity else { break }
      capacity = count
    }
    return self
  }
}

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
