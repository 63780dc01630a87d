import Documents
import TestSupport

/// Reproducible JSON values.
struct JSONRandom: RandomNumberGenerator {
  private var numbers: SeededGenerator

  /// The same seed gives the same values.
  init(seed: UInt64) { numbers = SeededGenerator(seed: seed) }

  mutating func next() -> UInt64 { numbers.next() }

  /// A random value with at most `depth` levels.
  mutating func value(depth: Int) -> JSONValue {
    switch Int.random(in: 0..<(depth > 0 ? 8 : 6), using: &self) {
    case 0: return .null
    case 1: return .bool(.random(using: &self))
    case 2: return .number(JSONNumber(.random(in: .min ... .max, using: &self)))
    case 3: return number()
    case 4, 5: return .string(string())
    case 6:
      let count = Int.random(in: 0..<6, using: &self)
      return .array((0..<count).map { _ in value(depth: depth - 1) })
    default:
      var object = JSONObject()
      for _ in 0..<Int.random(in: 0..<45, using: &self) {
        object[string()] = value(depth: depth - 2)
      }
      return .object(object)
    }
  }

  private mutating func number() -> JSONValue {
    let whole = Int.random(in: -99...99, using: &self)
    let fraction = UInt16.random(in: 0...999, using: &self)
    let exponent = Int.random(in: -200...200, using: &self)
    return JSONNumber(text: "\(whole).\(fraction)e\(exponent)").map { .number($0) } ?? .null
  }

  private mutating func string() -> String {
    let ranges: [ClosedRange<UInt32>] = [
      0...0x7F, 0x20...0x7E, 0x61...0x63, 0x80...0x7FF, 0x800...0xFFFF, 0x10000...0x10FFFF,
    ]
    var string = String.UnicodeScalarView()
    let range = ranges[Int.random(in: 0..<ranges.count, using: &self)]
    for _ in 0..<Int.random(in: 0..<20, using: &self) {
      if let scalar = Unicode.Scalar(UInt32.random(in: range, using: &self)) {
        string.append(scalar)
      }
    }
    return String(string)
  }
}
