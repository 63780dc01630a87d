import Stores

/// The values of a row, as a page stores them (<https://sqlite.org/fileformat2.html#record_format>).
///
/// Texts and blobs are both read as bytes, because damage to one bit of the type can turn one into the other.
struct Record {
  /// A value of a column.
  enum Value: Equatable {
    case null
    case integer(Int64)
    case bytes([UInt8])

    /// The integer; nil for other values.
    var integer: Int64? {
      guard case .integer(let number) = self else { return nil }
      return number
    }
    /// The bytes; nil for other values.
    var bytes: [UInt8]? {
      guard case .bytes(let bytes) = self else { return nil }
      return bytes
    }
    /// Whether the value is null.
    var isNull: Bool { self == .null }
  }

  /// The values, in the order of the table's columns.
  let values: [Value]

  /// Reads a record; nil when its values do not fit into the bytes.
  init?(_ bytes: [UInt8]) {
    guard let length = bytes.varint(at: 0), length.value >= 0, length.value <= Int64(bytes.count)
    else { return nil }
    var (index, content) = (length.end, Int(length.value))
    var values: [Value] = []
    while index < Int(length.value) {
      guard let type = bytes.varint(at: index), let size = Self.size(of: type.value),
        content + size <= bytes.count
      else { return nil }
      values.append(Self.value(bytes[content..<content + size], of: type.value))
      index = type.end
      content += size
    }
    self.values = values
  }

  private static func value(_ bytes: ArraySlice<UInt8>, of type: Int64) -> Value {
    switch type {
    case 0: return .null
    case 1...6:
      let first = Int64(Int8(bitPattern: bytes.first ?? 0))
      return .integer(bytes.dropFirst().reduce(first) { $0 << 8 | Int64($1) })
    case 8: return .integer(0)
    case 9: return .integer(1)
    default: return .bytes(Array(bytes))
    }
  }

  /// The bytes of a value; nil for a type that does not exist.
  private static func size(of type: Int64) -> Int? {
    switch type {
    case 0, 8, 9: 0
    case 1...4: Int(type)
    case 5: 6
    case 6, 7: 8
    case 12...Int64(Int32.max): Int(type - 12) / 2
    default: nil
    }
  }

  /// The offset after a record's header, which states the lengths of its values; nil when these lengths do not add up
  /// to the record's length.
  static func headerEnd(_ page: [UInt8], at start: Int, payload: Int) -> Int? {
    guard let length = page.varint(at: start), length.value >= 1, length.value <= 128 else {
      return nil
    }
    let end = start + Int(length.value)
    var (index, sum) = (length.end, Int(length.value))
    while index < end {
      guard let type = page.varint(at: index), let size = size(of: type.value) else { return nil }
      sum += size
      index = type.end
    }
    return index == end && sum == payload ? end : nil
  }
}
