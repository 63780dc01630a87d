import Documents
import ICU

extension JSONCollation {
  /// The root collation; nil if ICU lacks its data, and then strings compare by bytes.
  private static let collator = TextCollator()

  /// The version of keys: another when they may have changed, so that keys of two versions never
  /// meet.
  package static let version = "1-" + (collator?.version ?? "bytes")

  /// Compares two strings: by the collation, then plain ones before others, then by bytes.
  static func compare(_ left: String, _ right: String) -> Int {
    if left.equalsBytes(of: right) { return 0 }
    let order = collator?.compare(left, right) ?? 0
    guard order == 0 else { return order }
    let (isPlain, otherIsPlain) = (isPlain(left), isPlain(right))
    guard isPlain == otherIsPlain else { return isPlain ? -1 : 1 }
    return left.precedesBytes(of: right) ? -1 : 1
  }

  /// Appends the key of a string: the sort key, which ends with a zero, and what tells it from
  /// others with the same sort key. That is 1 for a plain string, and otherwise 2 and the bytes. A
  /// zero byte is followed by 255, and a zero that ends the bytes by less.
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

  /// Whether the collation tells a string from every other of its like: the printable characters of
  /// ASCII differ from one another, alone and together.
  private static func isPlain(_ text: String) -> Bool {
    collator != nil && text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
  }
}
