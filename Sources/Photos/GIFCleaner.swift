/// GIF: pictures, their delays, the number of loops and the colour profile stay. Comments, texts, XMP and the data of all
/// other applications go.
///
/// Source: CompuServe, "Graphics Interchange Format, Version 89a".
struct GIFCleaner: PhotoFormat {
  private static let applications: Set<String> = ["NETSCAPE2.0", "ANIMEXTS1.0", "ICCRGBG1012"]

  private enum State {
    case header, block, extensionLabel, application, image
    case data(isKept: Bool)
  }

  private var state = State.header
  private var hasPicture = false

  var headBytes: Int {
    switch state {
    case .header: 13
    case .block, .extensionLabel, .data: 1
    case .application: 12
    case .image: 9
    }
  }

  mutating func next(_ head: [UInt8]) throws(PhotoError) -> [PhotoStep] {
    switch state {
    case .header:
      state = .block
      return [.write(head), .copy(Self.colours(head[10]))]
    case .block: return try block(head)
    case .extensionLabel:
      switch head[0] {
      case 0xF9:
        state = .data(isKept: true)
        return [.write([0x21, 0xF9])]
      case 0xFF: state = .application
      default: state = .data(isKept: false)
      }
      return []
    case .application:
      guard head[0] == 11 else { throw .malformed("An extension of the GIF has no name") }
      let isKept = Self.applications.contains(String(decoding: head.dropFirst(), as: UTF8.self))
      state = .data(isKept: isKept)
      return isKept ? [.write([0x21, 0xFF] + head)] : []
    case .image:
      // One more byte says how the pixels are packed.
      state = .data(isKept: true)
      hasPicture = true
      return [.write([0x2C] + head), .copy(Self.colours(head[8]) + 1)]
    case .data(let isKept):
      if head[0] == 0 { state = .block }
      let bytes = Int(head[0])
      return isKept ? [.write(head), .copy(bytes)] : [.skip(bytes)]
    }
  }

  private mutating func block(_ head: [UInt8]) throws(PhotoError) -> [PhotoStep] {
    switch head[0] {
    case 0x21: state = .extensionLabel
    case 0x2C: state = .image
    // Some programs write one more end of a block.
    case 0x00: break
    case 0x3B:
      guard hasPicture else { throw .malformed("The GIF has no picture") }
      return [.write(head), .end]
    default: throw .malformed("The GIF has no block where one belongs")
    }
    return []
  }

  /// The bytes of the table of colours that flags announce.
  private static func colours(_ flags: UInt8) -> Int {
    flags & 0x80 == 0 ? 0 : 3 << (Int(flags & 7) + 1)
  }
}
