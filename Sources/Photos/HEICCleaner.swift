/// HEIC: of the file's boxes, those that say what it is, its items and the items' bytes stay. Of the items only pictures
/// stay: the bytes of an Exif, of XMP and of everything else become zeros, as do all bytes that no picture's item names.
/// Items are found by their places in the file, so nothing moves. The orientation is a property of the picture.
///
/// A file whose items can't be found before their bytes come is refused, and so is a sequence of pictures.
///
/// Source: ISO/IEC 23008-12, sections 6 and 9; ISO/IEC 14496-12, sections 4, 8.1 and 8.11.
struct HEICCleaner: PhotoFormat {
  /// The longest description of a file's items: 256 KiB. A phone's has 4 to 20 KiB.
  static let metaBytes = 256 << 10
  private static let brandBytes = 4_096
  private static let brands: Set<String> = ["heic", "heix", "heim", "heis"]

  private enum State {
    case box
    case brands(bytes: Int)
    case longBox
    case meta(bytes: Int)
  }

  private var state = State.box
  /// How many bytes of the file have been passed.
  private var position = 0
  private var isFirst = true
  /// The items; nil before they are described.
  private var items: HEICItems?

  var headBytes: Int {
    switch state {
    case .box, .longBox: 8
    case .brands(let bytes), .meta(let bytes): bytes
    }
  }

  var mayEnd: Bool {
    if case .box = state { items != nil } else { false }
  }

  mutating func next(_ head: [UInt8]) throws(PhotoError) -> [PhotoStep] {
    let start = position
    position += head.count
    switch state {
    case .box: return try box(head)
    case .brands(let bytes):
      state = .box
      let names = stride(from: 0, to: head.count - 3, by: 4).filter { $0 != 4 }
        .map { String(decoding: head[$0..<$0 + 4], as: UTF8.self) }
      guard names.contains(where: Self.brands.contains) else { throw .unknownType }
      return [.write(Self.head("ftyp", bytes) + head)]
    case .longBox:
      state = .box
      var reader = ByteReader(head)
      guard let size = reader.number(8), (16...Int(Int32.max)).contains(size) else {
        throw Self.malformed
      }
      return [.write(bigEndian(1, 4) + Array("mdat".utf8) + head)] + (try data(size - 16))
    case .meta(let bytes):
      state = .box
      let items = try HEICItems(head, at: start)
      self.items = items
      return [.write(Self.head("meta", bytes) + items.description)]
    }
  }

  private static let malformed = PhotoError.malformed(
    "The HEIC has no box where one belongs, or one that is too long")

  private static func head(_ name: String, _ bytes: Int) -> [UInt8] {
    bigEndian(bytes + 8, 4) + Array(name.utf8)
  }

  private mutating func box(_ head: [UInt8]) throws(PhotoError) -> [PhotoStep] {
    var reader = ByteReader(head)
    guard let size = reader.number(4), let name = reader.name() else { throw Self.malformed }
    guard !isFirst || name == "ftyp" else { throw Self.malformed }
    defer { isFirst = false }
    switch name {
    case "ftyp" where isFirst && (16...Self.brandBytes).contains(size):
      state = .brands(bytes: size - 8)
      return []
    case "meta" where items == nil && (12...Self.metaBytes).contains(size):
      state = .meta(bytes: size - 8)
      return []
    case "mdat" where size == 1:
      state = .longBox
      return []
    case "mdat" where size == 0: return [.write(head)] + (try data(nil))
    case "mdat" where size >= 8: return [.write(head)] + (try data(size - 8))
    case "ftyp", "meta", "mdat": throw Self.malformed
    case "moov", "moof": throw .malformed("The HEIC is a sequence of pictures")
    default:
      guard size >= 8 else { throw Self.malformed }
      position += size - 8
      return [.write(Self.head("free", size - 8)), .blank(size - 8)]
    }
  }

  /// The bytes of items.
  /// - Parameter count: nil for all up to the end of the file.
  private mutating func data(_ count: Int?) throws(PhotoError) -> [PhotoStep] {
    guard let items else { throw .malformed("The HEIC describes its items behind their bytes") }
    var (steps, at) = ([PhotoStep](), position)
    let end = position + (count ?? Int(Int32.max))
    for range in items.pictures where range.upperBound > at && range.lowerBound < end {
      let kept = max(range.lowerBound, at)..<min(range.upperBound, end)
      steps += [.blank(kept.lowerBound - at), .copy(kept.count)]
      at = kept.upperBound
    }
    position = end
    return steps + [count == nil ? .blankRest : .blank(end - at)]
  }
}
