/// The ranges of a `Range` field.
///
/// Source: RFC 9110, section 14.
enum ByteRanges: Equatable {
  /// The whole: there is no field, or one that has no effect.
  case whole
  case some([Range<Int64>])
  /// None of the ranges is within the length.
  case notSatisfiable

  /// More ranges than these have no effect: each of them costs a read and a part of the answer.
  static let most = 8

  /// Reads a field. A malformed one and one of another unit have no effect. Neither has one that asks for the whole,
  /// `bytes=0-`, as in CouchDB.
  /// - Parameter length: the length of the whole.
  init(_ field: String?, of length: Int64) {
    guard let field, let sets = Self.sets(in: field), sets.count <= Self.most, !sets.contains("0-")
    else {
      self = .whole
      return
    }
    var ranges: [Range<Int64>] = []
    for set in sets {
      guard let range = Self.range(set, of: length) else {
        self = .whole
        return
      }
      if !range.isEmpty { ranges.append(range) }
    }
    self = ranges.isEmpty ? .notSatisfiable : .some(ranges)
  }

  /// The texts between the commas; nil for another unit.
  private static func sets(in field: String) -> [String]? {
    let unit = "bytes=".utf8
    guard field.lowercased().utf8.starts(with: unit) else { return nil }
    return field.utf8.dropFirst(unit.count)
      .split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
      .map { String(decoding: $0, as: UTF8.self).trimmingSpaces }
  }

  /// One range; empty for one beyond the end or with its end before its start, nil for a malformed one.
  private static func range(_ text: String, of length: Int64) -> Range<Int64>? {
    let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    guard parts.count == 2 else { return nil }
    switch (number(parts[0]), number(parts[1])) {
    case (let first?, nil) where parts[1].isEmpty: return min(first, length)..<length
    case (let first?, let last?):
      guard first <= last else { return 0..<0 }
      let start = min(first, length)
      return start..<max(start, min(last, length - 1) + 1)
    case (nil, let count?) where parts[0].isEmpty: return max(0, length - count)..<length
    default: return nil
    }
  }

  /// A number in digits; one that is too large is the largest.
  private static func number(_ digits: Substring.UTF8View) -> Int64? {
    guard !digits.isEmpty, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int64(Substring(digits)) ?? .max - 1
  }
}
