/// How a picture is turned to be upright, 1 to 8: the one thing of an Exif that stays.
///
/// Source: Exif 2.32 (CIPA DC-008), section 4.6.4, tag 0x0112; TIFF 6.0, section 2.
struct Orientation: Equatable {
  /// As it is stored.
  static let upright = Orientation(value: 1)
  /// The bytes of ``tiff``.
  static let tiffBytes = 26

  let value: UInt8

  private init(value: UInt8) { self.value = value }

  /// Finds the orientation of an Exif, with or without the `Exif` before its TIFF; nil if it has none.
  init?(exif bytes: ArraySlice<UInt8>) {
    let start =
      bytes.starts(with: Self.mark) ? bytes.startIndex + Self.mark.count : bytes.startIndex
    let tiff = bytes[start...]
    let isLittleEndian = tiff.starts(with: Array("II".utf8))
    guard isLittleEndian || tiff.starts(with: Array("MM".utf8)) else { return nil }
    var reader = ByteReader(tiff.dropFirst(2), littleEndian: isLittleEndian)
    guard reader.number(2) == 42, let offset = reader.number(4), (8...tiff.count).contains(offset)
    else { return nil }
    reader = ByteReader(tiff.dropFirst(offset), littleEndian: isLittleEndian)
    guard let count = reader.number(2) else { return nil }
    for _ in 0..<count {
      guard let tag = reader.number(2), let type = reader.number(2), let values = reader.number(4),
        let value = reader.number(2), reader.number(2) != nil
      else { return nil }
      guard tag == 0x0112 else { continue }
      guard type == 3, values == 1, (1...8).contains(value) else { return nil }
      self.value = UInt8(value)
      return
    }
    return nil
  }

  /// What stands before the TIFF in a JPEG.
  static let mark = Array("Exif\0\0".utf8)

  /// A TIFF with nothing but the orientation.
  var tiff: [UInt8] {
    Array("II*\0".utf8) + [8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, value, 0, 0, 0, 0, 0, 0, 0]
  }
}
