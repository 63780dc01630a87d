import CICU

/// A normal form of Unicode.
///
/// Source: Unicode Standard Annex 15, "Unicode Normalization Forms".
package enum NormalForm: Sendable {
  /// Normal form C: two spellings of one text, such as a composed and a decomposed "é", become one.
  case canonical
  /// Normal form KC: so do variants of a character, such as a full-width letter and the plain one.
  case compatible
}

extension String {
  /// The text in a normal form. Where ICU can't make it, for want of memory, the text as it is.
  ///
  /// Each surrogate is half of a pair here, so that nothing is lost on the way through UTF-16.
  package func normalized(_ form: NormalForm) -> String {
    // ASCII is in every normal form.
    if utf8.allSatisfy({ $0 < 0x80 }) { return self }
    let text = Array(utf16)
    // Usually as long as before; else ICU says how long.
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
