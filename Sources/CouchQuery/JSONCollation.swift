package import Documents
import Text

/// The order of JSON values in CouchDB's views and queries: `null`, `false`, `true`, numbers,
/// strings, arrays, objects.
///
/// Numbers are compared exactly as written, where CouchDB rounds some to doubles. Strings are compared by the root
/// collation. Strings that the collation regards as equal are equal in CouchDB; here they are compared by their bytes,
/// as everywhere in this service. Arrays are compared element by element. Objects are compared member by member in the
/// order in which they are written, with their names as strings. A prefix of an array or object comes first.
///
/// Source: CouchDB, "Views collation"; `couch_ejson_compare.c`.
package enum JSONCollation {
  /// Below 0 when `left` comes first, above 0 when `right` comes first, and 0 when they are equal.
  package static func compare(_ left: JSONNode, _ right: JSONNode) -> Int {
    let (rank, other) = (rank(left), rank(right))
    guard rank == other else { return rank < other ? -1 : 1 }
    switch left.kind {
    case .null, .bool: return 0
    case .number:
      guard let left = left.number, let right = right.number else { return 0 }
      return compare(left, right)
    case .string:
      guard let left = left.string, let right = right.string else { return 0 }
      return compare(left, right)
    case .array: return compareElements(left, right)
    case .object: return compareMembers(left, right)
    }
  }

  /// Whether two values are equal: the same as `compare(left, right) == 0`, but cheaper.
  static func areEqual(_ left: JSONNode, _ right: JSONNode) -> Bool {
    guard rank(left) == rank(right), left.count == right.count else { return false }
    switch left.kind {
    case .null, .bool: return true
    case .number: return compare(left, right) == 0
    case .string: return right.string.map { left.stringEquals($0) } ?? false
    case .array: return zip(left.elements, right.elements).allSatisfy { areEqual($0, $1) }
    case .object:
      return zip(left.members, right.members).allSatisfy { left, right in
        left.nameEquals(right.name) && areEqual(left.value, right.value)
      }
    }
  }

  /// The rank of a value's type, from 1; `false` and `true` have different ranks.
  static func rank(_ node: JSONNode) -> UInt8 {
    switch node.kind {
    case .null: 1
    case .bool: node.bool == true ? 3 : 2
    case .number: 4
    case .string: 7
    case .array: 8
    case .object: 9
    }
  }

  /// Compares two numbers by their exact values.
  static func compare(_ left: JSONNumber, _ right: JSONNumber) -> Int {
    if let left = left.int, let right = right.int {
      return left == right ? 0 : left < right ? -1 : 1
    }
    // Rounding keeps the order, so the order of different doubles is the order of the numbers.
    if let left = left.double, let right = right.double, left != right {
      return left < right ? -1 : 1
    }
    return JSONCollationNumber(left).compare(JSONCollationNumber(right))
  }

  private static func compareElements(_ left: JSONNode, _ right: JSONNode) -> Int {
    for (left, right) in zip(left.elements, right.elements) {
      let order = compare(left, right)
      if order != 0 { return order }
    }
    return left.count - right.count
  }

  private static func compareMembers(_ left: JSONNode, _ right: JSONNode) -> Int {
    for (left, right) in zip(left.members, right.members) {
      var order = compare(left.name, right.name)
      if order == 0 { order = compare(left.value, right.value) }
      if order != 0 { return order }
    }
    return left.count - right.count
  }

  /// The key of an array of values: bytes that have the same order as such arrays, and are equal for equal arrays.
  ///
  /// The key of an array is a prefix of the key of every longer array that begins with the same values, and of no other
  /// key. A key can be about three times as long as the values' text.
  package static func key(_ values: [JSONNode]) -> [UInt8] {
    var key: [UInt8] = []
    for value in values { append(value, to: &key) }
    return key
  }

  /// The least bytes that come after every key that begins with this one; nil when there are none.
  package static func successor(_ key: [UInt8]) -> [UInt8]? {
    guard let last = key.lastIndex(where: { $0 < 255 }) else { return nil }
    var next = Array(key[...last])
    next[last] += 1
    return next
  }

  /// Appends a value: a byte for its type and its content. This byte is higher than the byte that ends an array or
  /// object.
  private static func append(_ value: JSONNode, to key: inout [UInt8]) {
    switch value.kind {
    case .null, .bool: key.append(rank(value))
    case .number:
      if let number = value.number { JSONCollationNumber(number).appendKey(to: &key) }
    case .string:
      key.append(rank(value))
      if let text = value.string { appendKey(text, to: &key) }
    case .array:
      key.append(rank(value))
      for element in value.elements { append(element, to: &key) }
      key.append(0)
    case .object:
      key.append(rank(value))
      for member in value.members {
        key.append(1)
        appendKey(member.name, to: &key)
        append(member.value, to: &key)
      }
      key.append(0)
    }
  }

  /// The root collation; nil when ICU lacks its data. Strings are then compared by bytes.
  private static let collator = TextCollator()

  /// The version of the keys. It changes when the keys may have changed, so that keys of two versions are never
  /// compared.
  package static let version = "1-" + (collator?.version ?? "bytes")

  /// Compares two strings: by the collation, then plain strings before others, then by bytes.
  static func compare(_ left: String, _ right: String) -> Int {
    if left.equalsBytes(of: right) { return 0 }
    let order = collator?.compare(left, right) ?? 0
    guard order == 0 else { return order }
    let (isPlain, otherIsPlain) = (isPlain(left), isPlain(right))
    guard isPlain == otherIsPlain else { return isPlain ? -1 : 1 }
    return left.precedesBytes(of: right) ? -1 : 1
  }

  /// Appends the key of a string: the sort key, which ends with a zero, and a suffix that distinguishes strings with
  /// the same sort key. The suffix is 1 for a plain string; otherwise it is 2, the bytes, and a zero. A zero byte among
  /// the bytes is followed by 255; after the final zero a lower byte follows.
  static func appendKey(_ text: String, to key: inout [UInt8]) {
    key += collator?.sortKey(of: text) ?? [0]
    guard !isPlain(text) else {
      key.append(1)
      return
    }
    key.append(2)
    for byte in text.utf8 {
      key.append(byte)
      if byte == 0 { key.append(255) }
    }
    key.append(0)
  }

  /// Whether no other plain string is equal in the collation: the printable characters of ASCII all differ from each
  /// other, alone and in combination.
  private static func isPlain(_ text: String) -> Bool {
    collator != nil && text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
  }
}

/// A number in a normal form, so that equal numbers are equal however they are written: a sign, and for all numbers but
/// zero the digits after the point, of which the first and the last are not 0, and the exponent of the power of ten to
/// multiply them by. `-12.50` is - 0.125 × 10².
struct JSONCollationNumber {
  /// -1, 0 or 1.
  let sign: Int
  /// The exponent of ten; 0 for zero.
  let exponent: Int
  /// The digits, with values from 0 to 9; none for zero.
  let digits: [UInt8]

  /// Makes the normal form of a number.
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
    let position = (point ?? digits.count) + power
    guard let first = digits.firstIndex(where: { $0 != 0 }),
      let last = digits.lastIndex(where: { $0 != 0 })
    else {
      (sign, exponent, self.digits) = (0, 0, [])
      return
    }
    sign = text.first == UInt8(ascii: "-") ? -1 : 1
    exponent = position - first
    self.digits = Array(digits[first...last])
  }

  /// Below 0 when this number is less than another, above 0 when it is greater, and 0 when they are equal.
  func compare(_ other: JSONCollationNumber) -> Int {
    guard sign == other.sign else { return sign - other.sign }
    guard exponent == other.exponent else { return sign * (exponent < other.exponent ? -1 : 1) }
    if digits == other.digits { return 0 }
    return sign * (digits.lexicographicallyPrecedes(other.digits) ? -1 : 1)
  }

  /// Appends the key: 4, 5 or 6 for the sign; then, unless it is zero, the exponent in two bytes, the digits in pairs,
  /// each pair increased by one, and 0 at the end. For a negative number these bytes are inverted.
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
