import Documents

/// The range in which strings with a common beginning lie.
enum SelectorPrefix {
  /// The strings that begin with a prefix, in the order of ``JSONCollation``.
  ///
  /// A longer text need not come after its beginning in the collation: Thai vowels change places
  /// with what follows. The letters a to z and digits never do, so the range is made of as many of
  /// those as the prefix begins with; it ends before what has the next letter or digit in the place
  /// of the last.
  static func bounds(_ prefix: String) -> FieldBounds? {
    let plain = prefix.utf8.prefix { isDigit($0) || isLetter($0) }
    guard !plain.isEmpty else { return SelectorKinds.strings }
    var next = Array(plain)
    while let last = next.popLast() {
      guard last | 0x20 != UInt8(ascii: "z") else { continue }
      next.append(following(last))
      break
    }
    let upper = next.isEmpty ? nil : SelectorKinds.string(String(decoding: next, as: UTF8.self))
    return FieldBounds(
      lower: SelectorKinds.string(String(decoding: plain, as: UTF8.self)),
      upper: upper ?? SelectorKinds.strings?.upper, includesUpper: false)
  }

  /// The ids that begin with a prefix, in the order of their bytes, which is that of their
  /// characters' numbers: the range ends before what has the next character in the place of the
  /// last.
  static func idBounds(_ prefix: String) -> FieldBounds? {
    var next = Array(prefix.unicodeScalars)
    while let last = next.popLast() {
      let number = last.value == 0xD7FF ? 0xE000 : last.value + 1
      guard let following = Unicode.Scalar(number) else { continue }
      next.append(following)
      break
    }
    var upper = String.UnicodeScalarView()
    upper.append(contentsOf: next)
    return FieldBounds(
      lower: SelectorKinds.string(prefix),
      upper: next.isEmpty ? nil : SelectorKinds.string(String(upper)), includesUpper: false,
      isByBytes: true)
  }

  /// The letter or digit after another but z; a small letter, which comes before its capital.
  private static func following(_ byte: UInt8) -> UInt8 {
    if byte == UInt8(ascii: "9") { return UInt8(ascii: "a") }
    return (isLetter(byte) ? byte | 0x20 : byte) + 1
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }
}
