import CICU

/// A normal form of Unicode.
///
/// Source: Unicode Standard Annex 15, "Unicode Normalization Forms".
package enum NormalForm: Sendable {
  /// Normal form C: different encodings of a character, such as a composed and a decomposed "é", become the same.
  case canonical
  /// Normal form KC: variants of a character, such as a full-width letter and the plain one, also become the same.
  case compatible
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
    var room = text.count
    for _ in 1...2 {
      var status: Int32 = 0
      var result = [UInt16](repeating: 0, count: room)
      let count = Int(
        cicu_normalize(
          form == .compatible ? 1 : 0, text, Int32(clamping: text.count), &result,
          Int32(clamping: room), &status))
      if status <= 0, (0...room).contains(count) {
        return String(decoding: result.prefix(count), as: UTF16.self)
      }
      guard count > room else { break }
      room = count
    }
    return self
  }
}
