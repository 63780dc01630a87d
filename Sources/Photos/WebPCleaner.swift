/// WebP: pictures, transparency, animation and the colour profile stay. An `EXIF` becomes one with the orientation alone.
/// `XMP ` and all chunks that are not known become zeros under another name: the file says its length in its head, which is
/// stored before anybody knows how much goes.
///
/// Source: RFC 9649, section 2.
struct WebPCleaner: PhotoFormat {
  private static let kept: Set<String> = ["VP8 ", "VP8L", "ALPH", "ICCP", "ANIM"]
  /// The name of a chunk of zeros. No reader knows it, and all pass over what they don't know (section 2.7.1.6).
  private static let empty = Array("JUNK".utf8)
  /// So much of an `EXIF` is read for its orientation: 64 KiB, as in a JPEG.
  private static let exifBytes = 64 << 10

  private enum State {
    case header, chunk
    /// The head of an extended file, with flags.
    case features(size: [UInt8], bytes: Int)
    case exif(size: [UInt8], bytes: Int, rest: Int)
  }

  private var state = State.header
  /// How many bytes of the file are still to come.
  private var rest = 0
  private var hasPicture = false

  var headBytes: Int {
    switch state {
    case .header: 12
    case .chunk: 8
    case .features: 10
    case .exif(_, let bytes, _): bytes
    }
  }

  mutating func next(_ head: [UInt8]) throws(PhotoError) -> [PhotoStep] {
    switch state {
    case .header:
      rest = Self.number(head[4..<8]) - 4
      state = .chunk
      return [.write(head)] + (try end())
    case .chunk: return try chunk(head)
    case .features(let size, let bytes):
      state = .chunk
      var head = head
      // Only the flags of the specification, and without XMP's.
      head[0] &= 0b0011_1010
      return [.write(Array("VP8X".utf8) + size + head), .copy(bytes - 10)] + (try end())
    case .exif(let size, _, let rest):
      state = .chunk
      let orientation = Orientation(exif: head[...]) ?? .upright
      let zeros = Array(repeating: UInt8(0), count: head.count - Orientation.tiffBytes)
      return [.write(Array("EXIF".utf8) + size + orientation.tiff + zeros), .blank(rest)]
        + (try end())
    }
  }

  private mutating func chunk(_ head: [UInt8]) throws(PhotoError) -> [PhotoStep] {
    let (name, size) = (String(decoding: head.prefix(4), as: UTF8.self), Array(head[4...]))
    let length = Self.number(size[...])
    rest -= 8
    guard length <= rest else { throw .malformed("A chunk of the WebP is longer than the file") }
    // A frame is a head of 16 bytes and chunks.
    if name == "ANMF" {
      guard length >= 16 else { throw .malformed("A frame of the WebP has no head") }
      rest -= 16
      return [.write(head), .copy(16)] + (try end())
    }
    let bytes = min(length + length & 1, rest)
    rest -= bytes
    switch name {
    case "VP8X" where bytes >= 10:
      state = .features(size: size, bytes: bytes)
      return []
    case "EXIF" where bytes >= Orientation.tiffBytes:
      let read = min(bytes, Self.exifBytes)
      state = .exif(size: size, bytes: read, rest: bytes - read)
      return []
    case _ where Self.kept.contains(name):
      if name.hasPrefix("VP8") { hasPicture = true }
      return [.write(head), .copy(bytes)] + (try end())
    default: return [.write(Self.empty + size), .blank(bytes)] + (try end())
    }
  }

  /// The end, if no further chunk fits into the file.
  private func end() throws(PhotoError) -> [PhotoStep] {
    guard rest < 8 else { return [] }
    guard hasPicture else { throw .malformed("The WebP has no picture") }
    return [.blank(max(0, rest)), .end]
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> Int {
    bytes.reversed().reduce(0) { $0 << 8 | Int($1) }
  }
}
