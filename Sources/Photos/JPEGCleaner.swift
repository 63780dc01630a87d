/// JPEG: the tables, frames and scans stay, and of the application's data JFIF, the colour profile and Adobe's colour
/// transform. An Exif becomes one with the orientation alone. The photo ends with its first picture: phones append further
/// ones and videos, with positions of their own.
///
/// Source: ITU-T T.81, annex B; JFIF 1.02; ICC.1, annex B.4; Adobe Technical Note 5116.
struct JPEGCleaner: PhotoFormat {
  private enum State {
    case start, marker, code
    case length(code: UInt8)
    case payload(code: UInt8, bytes: Int)
  }

  private var state = State.start
  private var hasScan = false
  private var hasExif = false

  var headBytes: Int {
    switch state {
    case .start, .length: 2
    case .marker, .code: 1
    case .payload(_, let bytes): bytes
    }
  }

  mutating func next(_ head: [UInt8]) throws(PhotoError) -> [PhotoStep] {
    switch state {
    case .start:
      state = .marker
      return [.write(head)]
    case .marker:
      guard head == [0xFF] else { throw Self.malformed }
      state = .code
      return []
    case .code: return try marker(head[0])
    case .length(let code):
      let length = Int(head[0]) << 8 | Int(head[1])
      guard length >= 2 else { throw Self.malformed }
      return segment(code, head, length - 2)
    case .payload(let code, _):
      state = .marker
      return application(code, head)
    }
  }

  private static let malformed = PhotoError.malformed("The JPEG has no marker where one belongs")

  private mutating func marker(_ code: UInt8) throws(PhotoError) -> [PhotoStep] {
    switch code {
    // A byte that fills.
    case 0xFF: return []
    case 0xD9:
      guard hasScan else { throw .malformed("The JPEG has no picture") }
      return [.write([0xFF, code]), .end]
    // Markers without a segment, of no use outside of a scan.
    case 0x01, 0xD0...0xD7:
      state = .marker
      return []
    case 0x00, 0xD8: throw Self.malformed
    default:
      state = .length(code: code)
      return []
    }
  }

  private mutating func segment(_ code: UInt8, _ length: [UInt8], _ bytes: Int) -> [PhotoStep] {
    state = .marker
    switch code {
    // JFIF, Exif, the colour profile, Adobe's transform: decided by what is in them.
    case 0xE0, 0xE1, 0xE2, 0xEE:
      if bytes > 0 { state = .payload(code: code, bytes: bytes) }
      return []
    case 0xDA:
      hasScan = true
      return [.write([0xFF, code] + length), .copy(bytes), .copyScan]
    // Frames, tables, restart intervals, the number of lines.
    case 0xC0...0xC7, 0xC9...0xCF, 0xDB...0xDF:
      return [.write([0xFF, code] + length), .copy(bytes)]
    // Comments, all other data of applications, and what is reserved.
    default: return [.skip(bytes)]
    }
  }

  private mutating func application(_ code: UInt8, _ payload: [UInt8]) -> [PhotoStep] {
    switch code {
    // Version and density, without the thumbnail.
    case 0xE0 where payload.starts(with: Array("JFIF\0".utf8)) && payload.count >= 14:
      return Self.kept(code, payload.prefix(12) + [0, 0])
    case 0xE1 where payload.starts(with: Orientation.mark) && !hasExif:
      guard let orientation = Orientation(exif: payload[...]) else { return [] }
      hasExif = true
      return Self.kept(code, Orientation.mark + orientation.tiff)
    case 0xE2 where payload.starts(with: Array("ICC_PROFILE\0".utf8)):
      return Self.kept(code, payload[...])
    case 0xEE where payload.starts(with: Array("Adobe".utf8)) && payload.count >= 12:
      return Self.kept(code, payload.prefix(12))
    default: return []
    }
  }

  private static func kept(_ code: UInt8, _ payload: some Collection<UInt8>) -> [PhotoStep] {
    [.write([0xFF, code] + bigEndian(payload.count + 2, 2) + payload)]
  }

  /// Where the bytes of a scan end: at a marker other than a restart's, or before a last byte that may begin one.
  static func endOfScan(in bytes: [UInt8], from start: Int) -> (index: Int, isMarker: Bool) {
    var index = start
    while let found = bytes[index...].firstIndex(of: 0xFF) {
      guard found + 1 < bytes.count else { return (found, false) }
      switch bytes[found + 1] {
      case 0x00, 0xD0...0xD7: index = found + 2
      // A byte that fills.
      case 0xFF: index = found + 1
      default: return (found, true)
      }
    }
    return (bytes.count, false)
  }
}
