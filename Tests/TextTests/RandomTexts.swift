/// Reproducible random texts (SplitMix64) with characters that collations treat in special ways.
struct RandomTexts: RandomNumberGenerator {
  private var state: UInt64

  /// The same seed gives the same texts.
  init(seed: UInt64) {
    state = seed
  }

  /// The next 64 random bits.
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var bits = state
    bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
    return bits ^ (bits >> 31)
  }

  /// Up to six characters: letters, accents, ignorable characters, Thai vowels, the last character of Unicode, or
  /// any character.
  mutating func text() -> String {
    let known = Array(
      "aAbBlzZ09 -·eéßæ\u{301}\u{0}\u{1}\u{AD}\u{E01}\u{E40}\u{FFFE}\u{FFFF}".unicodeScalars)
    var text = String.UnicodeScalarView()
    for _ in 0..<Int.random(in: 0...6, using: &self) {
      if Bool.random(using: &self) {
        text.append(known[Int.random(in: 0..<known.count, using: &self)])
      } else if let scalar = Unicode.Scalar(UInt32.random(in: 0...0x1FFFF, using: &self)) {
        text.append(scalar)
      }
    }
    return String(text)
  }
}
