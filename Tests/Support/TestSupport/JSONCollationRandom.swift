package import Documents

/// Reproducible random JSON. The values are small and use few letters, so that equal ones are frequent.
package struct JSONCollationRandom: RandomNumberGenerator {
  private var generator: SeededGenerator

  /// The same seed gives the same values.
  package init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

  package mutating func next() -> UInt64 { generator.next() }

  /// A random number from 0 to `end` - 1.
  package mutating func below(_ end: Int) -> Int {
    Int.random(in: 0..<end, using: &self)
  }

  /// A random element.
  package mutating func one<Element>(of all: [Element]) -> Element {
    all[below(all.count)]
  }

  /// A value with at most `depth` levels of nesting.
  package mutating func value(depth: Int = 3) -> JSONValue {
    switch below(depth > 0 ? 9 : 6) {
    case 0: return .null
    case 1: return .bool(.random(using: &self))
    case 2, 3: return number()
    case 4, 5: return .string(text())
    case 6, 7: return .array((0..<below(4)).map { _ in value(depth: depth - 1) })
    default:
      var object = JSONObject()
      for _ in 0..<below(4) { object[text()] = value(depth: depth - 1) }
      return .object(object)
    }
  }

  /// A random number. Equal numbers often have different spellings.
  package mutating func number() -> JSONValue {
    let sign = one(of: ["", "-"])
    let digits = one(of: ["0", "1", "2", "10", "12", "100", "9007199254740993", "9007199254740992"])
    let fraction = one(of: ["", "", ".0", ".5", ".50", ".05", ".000000000000000000001"])
    let exponent = one(of: ["", "", "e0", "E+1", "e-1", "e2", "e-2", "e300", "e-300"])
    return JSONNumber(text: sign + digits + fraction + exponent).map { .number($0) } ?? 0
  }

  /// A text of up to four characters that need special handling in collations.
  package mutating func text() -> String {
    let known = Array(
      "aaabABlzZ09 -·eéß\u{301}\u{0}\u{1}\u{AD}\u{E01}\u{E40}\u{FFFE}\u{FFFF}\u{1F3E8}"
        .unicodeScalars)
    var text = String.UnicodeScalarView()
    for _ in 0..<below(5) { text.append(one(of: known)) }
    return String(text)
  }
}

/// A value as the root of a JSON text.
package func node(_ value: JSONValue) throws -> JSONNode {
  try ParsedJSON(value.bytes, limits: .request).root
}
