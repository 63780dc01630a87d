import Documents

/// A number taken apart so that equal ones are the same however they are written: a sign, and for
/// all but zero the digits after the point, the first and the last not 0, and the power of ten they
/// are to be multiplied by. `-12.50` is - 0.125 × 10².
struct JSONCollationNumber {
  /// -1, 0 or 1.
  let sign: Int
  /// The power of ten; 0 for zero.
  let exponent: Int
  /// The digits as numbers from 0 to 9; none for zero.
  let digits: [UInt8]

  /// Takes a number apart.
  init(_ number: JSONNumber) {
    var digits: [UInt8] = []
    var point: Int?
    var power = 0
    let text = number.text.utf8
    let end = text.firstIndex { $0 | 0x20 == UInt8(ascii: "e") } ?? text.endIndex
    if end < text.endIndex {
      power = Int(String(decoding: text[text.index(after: end)...], as: UTF8.self)) ?? 0
    }
    for byte in text[..<end] {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): digits.append(byte - UInt8(ascii: "0"))
      case UInt8(ascii: "."): point = digits.count
      default: break
      }
    }
    let place = (point ?? digits.count) + power
    guard let first = digits.firstIndex(where: { $0 != 0 }),
      let last = digits.lastIndex(where: { $0 != 0 })
    else {
      (sign, exponent, self.digits) = (0, 0, [])
      return
    }
    sign = text.first == UInt8(ascii: "-") ? -1 : 1
    exponent = place - first
    self.digits = Array(digits[first...last])
  }

  /// Below 0 when this number is less than another, above 0 when it is greater, and 0 when they are
  /// equal.
  func compare(_ other: JSONCollationNumber) -> Int {
    guard sign == other.sign else { return sign - other.sign }
    guard exponent == other.exponent else { return sign * (exponent < other.exponent ? -1 : 1) }
    if digits == other.digits { return 0 }
    return sign * (digits.lexicographicallyPrecedes(other.digits) ? -1 : 1)
  }

  /// Appends the key: 4, 5 or 6 by the sign; then, if it isn't zero, the exponent in two bytes and
  /// the digits in pairs, each one more than it is, and 0 at the end. The bytes of a negative
  /// number are turned over.
  func appendKey(to key: inout [UInt8]) {
    key.append(UInt8(5 + sign))
    guard sign != 0 else { return }
    let start = key.count
    let biased = UInt16(clamping: exponent + 0x4000)
    key += [UInt8(biased >> 8), UInt8(biased & 255)]
    for index in stride(from: 0, to: digits.count, by: 2) {
      let unit = index + 1 < digits.count ? digits[index + 1] : 0
      key.append(digits[index] * 10 + unit + 1)
    }
    key.append(0)
    if sign < 0 {
      for index in start..<key.count { key[index] = ~key[index] }
    }
  }
}
