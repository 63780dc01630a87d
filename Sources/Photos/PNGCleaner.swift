/// PNG: the chunks that a picture and its animation need stay. An `eXIf` becomes one with the orientation alone. Texts, times
/// and all chunks that are not known go.
///
/// Source: W3C, "Portable Network Graphics (Third Edition)", sections 5 and 11.
struct PNGCleaner: PhotoFormat {
  static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

  private static let kept: Set<String> = [
    "IHDR", "PLTE", "IDAT", "IEND", "tRNS", "cHRM", "gAMA", "iCCP", "sBIT", "sRGB", "cICP", "mDCV",
    "cLLI", "bKGD", "hIST", "pHYs", "sPLT", "acTL", "fcTL", "fdAT",
  ]
  /// A longer `eXIf` is removed without a look at its orientation: 64 KiB, as in a JPEG.
  private static let exifBytes = 64 << 10

  private enum State {
    case signature, first, chunk
    case exif(bytes: Int)
  }

  private var state = State.signature
  private var hasPixels = false
  private var hasExif = false

  var headBytes: Int {
    switch state {
    case .signature, .first, .chunk: 8
    // With the check sum.
    case .exif(let bytes): bytes + 4
    }
  }

  mutating func next(_ head: [UInt8]) throws(PhotoError) -> [PhotoStep] {
    switch state {
    case .signature:
      state = .first
      return [.write(head)]
    case .first, .chunk: return try chunk(head)
    case .exif(let bytes):
      state = .chunk
      guard let orientation = Orientation(exif: head.prefix(bytes)) else { return [] }
      hasExif = true
      let content = Array("eXIf".utf8) + orientation.tiff
      return [.write(bigEndian(Orientation.tiffBytes, 4) + content + Self.checkSum(content))]
    }
  }

  private mutating func chunk(_ head: [UInt8]) throws(PhotoError) -> [PhotoStep] {
    var reader = ByteReader(head)
    guard let bytes = reader.number(4), bytes <= Int32.max, let name = reader.name() else {
      throw .malformed("A chunk of the PNG is too long")
    }
    if case .first = state {
      guard name == "IHDR", bytes == 13 else { throw .malformed("The PNG has no header") }
    }
    state = .chunk
    if name == "eXIf", bytes <= Self.exifBytes, !hasExif {
      state = .exif(bytes: bytes)
      return []
    }
    guard Self.kept.contains(name) else {
      // The case of the first letter says whether a picture can be shown without the chunk.
      guard head[4] & 0x20 != 0 else { throw .malformed("The PNG needs a chunk that is not known") }
      return [.skip(bytes + 4)]
    }
    if name == "IDAT" { hasPixels = true }
    guard name == "IEND" else { return [.write(head), .copy(bytes + 4)] }
    guard hasPixels, bytes == 0 else { throw .malformed("The PNG has no picture") }
    return [.write(head), .copy(4), .end]
  }

  /// The CRC-32 of a chunk's type and data.
  private static func checkSum(_ bytes: [UInt8]) -> [UInt8] {
    var sum = UInt32.max
    for byte in bytes {
      sum ^= UInt32(byte)
      for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
    }
    return bigEndian(Int(~sum), 4)
  }
}
