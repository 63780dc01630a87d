package import Documents

extension JSONCollation {
  /// Bytes that order as an array of the values does, and are the same for equal arrays.
  ///
  /// The key of one value ends by itself: the key of an array is a beginning of the key of every
  /// longer array that starts with the same values, and of no other. A key can be some three times
  /// as long as the values' text.
  package static func key(_ values: [JSONNode]) -> [UInt8] {
    var key: [UInt8] = []
    for value in values { append(value, to: &key) }
    return key
  }

  /// The least bytes that come after every key that starts with this one; nil if there are none.
  package static func successor(_ key: [UInt8]) -> [UInt8]? {
    guard let last = key.lastIndex(where: { $0 < 255 }) else { return nil }
    var next = Array(key[...last])
    next[last] += 1
    return next
  }

  /// Appends a value: a byte for its kind, above that for the end of an array or object, and its
  /// content.
  private static func append(_ value: JSONNode, to key: inout [UInt8]) {
    switch value.kind {
    case .null, .bool:
      key.append(rank(value))
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
}
