/// A type of photo, recognised by its first bytes. What a client says of the type does not count.
package enum PhotoType: String, CaseIterable, Sendable {
  case jpeg = "image/jpeg"
  case png = "image/png"
  case webp = "image/webp"
  case gif = "image/gif"
  case heic = "image/heic"

  /// So many bytes tell the type.
  package static let recognisedBytes = 12

  /// The types in a sentence.
  package static let names = "JPEG, PNG, WebP, GIF or HEIC"

  package var contentType: String { rawValue }

  /// Whether an attachment with this content type counts as a photo.
  package static func isPhoto(_ contentType: String) -> Bool { Self(rawValue: contentType) != nil }

  /// The type that the first bytes have; nil for any other. Every HEIF counts as HEIC here: ``HEICCleaner`` looks at its
  /// brands.
  init?(startingWith bytes: [UInt8]) {
    func has(_ text: StaticString, at offset: Int = 0) -> Bool {
      text.withUTF8Buffer { bytes.dropFirst(offset).starts(with: $0) }
    }
    if bytes.starts(with: [0xFF, 0xD8, 0xFF]) {
      self = .jpeg
    } else if bytes.starts(with: PNGCleaner.signature) {
      self = .png
    } else if has("GIF87a") || has("GIF89a") {
      self = .gif
    } else if has("RIFF"), has("WEBP", at: 8) {
      self = .webp
    } else if has("ftyp", at: 4) {
      self = .heic
    } else {
      return nil
    }
  }

  var format: any PhotoFormat {
    switch self {
    case .jpeg: JPEGCleaner()
    case .png: PNGCleaner()
    case .webp: WebPCleaner()
    case .gif: GIFCleaner()
    case .heic: HEICCleaner()
    }
  }
}

/// Why some bytes are not taken as a photo.
package enum PhotoError: Error, Equatable, Sendable {
  /// They have none of the types.
  case unknownType
  /// They have a type, but not its structure, so that nobody can say what else is in them. The sentence says what is wrong.
  case malformed(String)
}
