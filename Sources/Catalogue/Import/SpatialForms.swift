import Documents

/// Positions as spatial databases and maps write them.
enum SpatialForms {
  /// The point in the well-known binary that PostGIS writes in hexadecimal digits; nil for another text.
  ///
  /// <https://postgis.net/docs/using_postgis_dbmanagement.html#EWKB_EWKT>
  static func point(ofBinary text: String) -> PositionForms.Point? {
    // One byte for the order, four for the type, perhaps four for the reference, and two numbers; perhaps a height.
    guard (42...82).contains(text.utf8.count), text.utf8.count.isMultiple(of: 2),
      text.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || isLetter($0) })
    else { return nil }
    var bytes: [UInt8] = []
    var rest = text[...]
    while !rest.isEmpty {
      guard let byte = UInt8(rest.prefix(2), radix: 16) else { return nil }
      bytes.append(byte)
      rest = rest.dropFirst(2)
    }
    guard bytes[0] < 2 else { return nil }
    let isLittle = bytes[0] == 1
    func number(_ range: Range<Int>) -> UInt64? {
      guard range.upperBound <= bytes.count else { return nil }
      let part = isLittle ? bytes[range].reversed() : Array(bytes[range])
      return part.reduce(0) { $0 << 8 | UInt64($1) }
    }
    guard let type = number(1..<5), type & 0xFF == 1 else { return nil }
    let hasReference = type & 0x2000_0000 != 0
    let start = hasReference ? 9 : 5
    guard let x = number(start..<start + 8).map(Double.init(bitPattern:)),
      let y = number(start + 8..<start + 16).map(Double.init(bitPattern:))
    else { return nil }
    let reference = hasReference ? number(5..<9).flatMap { MapReference(number: Int($0)) } : nil
    return reference.map { $0.point(x, y) } ?? PositionForms.Point(north: y, east: x)
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    UInt8(ascii: "A")...UInt8(ascii: "F") ~= byte & 0xDF
  }

  /// A row of a map in metres with its point in degrees.
  static func inDegrees(_ row: JSONObject, of reference: MapReference) -> JSONObject {
    guard let geometry = row["geometry"]?.object else { return row }
    let numbers =
      geometry["coordinates"]?.array ?? [geometry["x"], geometry["y"]].compactMap(\.self)
    guard numbers.count >= 2, let x = numbers[0].number?.double, let y = numbers[1].number?.double,
      let point = reference.point(x, y)
    else { return row }
    var row = row
    row["geometry"] = point.value
    return row
  }
}
