/// The items of a HEIC, from its box `meta`.
///
/// Source: ISO/IEC 14496-12, sections 8.11.3 (`iloc`) and 8.11.6 (`iinf`); ISO/IEC 23008-12, section 6.
struct HEICItems {
  /// The box without its head, with nothing in it but what belongs to pictures.
  private(set) var description: [UInt8]
  /// Where the bytes of pictures are in the file, in order, without overlaps.
  private(set) var pictures: [Range<Int>] = []

  /// The types of items that are a picture, or a rule that makes one of others.
  private static let pictureTypes: Set<String> = ["hvc1", "lhv1", "grid", "iden", "iovl", "tmap"]
  private static let properties: Set<String> = [
    "hvcC", "lhvC", "ispe", "pixi", "colr", "pasp", "clap", "irot", "imir", "auxC", "rloc", "lsel",
    "clli", "mdcv", "cclv", "amve", "oinf", "tols", "rrtp", "iscl",
  ]
  /// The most items, and the most parts of all of them: 4,096. A phone's photo of 48 megapixels has 200.
  private static let most = 4_096

  private static let malformed = PhotoError.malformed("The items of the HEIC can't be read")

  /// A part of an item's bytes.
  private struct Extent {
    let range: Range<Int>
    let isPicture: Bool
  }

  /// A box within the description.
  private struct Box {
    let name: String
    /// Its place with its head, and without.
    let whole: Range<Int>
    var content: Range<Int> { whole.lowerBound + 8..<whole.upperBound }
  }

  private var pictureIDs: Set<Int> = []
  /// The parts of items in the file, and those in the box `idat`.
  private var extents: (file: [Extent], box: [Extent]) = ([], [])

  /// Reads the box.
  /// - Parameter position: where its content begins in the file.
  init(_ content: [UInt8], at position: Int) throws(PhotoError) {
    description = content
    guard content.count >= 4 else { throw Self.malformed }
    let boxes = try boxes(in: 4..<content.count)
    for name in ["hdlr", "iinf", "iloc", "iprp"] {
      guard boxes.count(where: { $0.name == name }) == 1 else { throw Self.malformed }
    }
    for box in boxes where box.name == "iinf" { try readTypes(in: box.content) }
    for box in boxes {
      switch box.name {
      case "hdlr":
        guard content[box.content].dropFirst(8).starts(with: Array("pict".utf8)) else {
          throw Self.malformed
        }
      case "iloc": try readPlaces(in: content[box.content])
      case "iprp": try cleanProperties(in: box.content)
      case "pitm", "iinf", "iref", "dinf", "grpl", "idat": break
      default: clear(box)
      }
    }
    guard !pictureIDs.isEmpty else { throw .malformed("The HEIC has no picture") }
    pictures = try Self.pictures(among: extents.file)
    let kept = try Self.pictures(among: extents.box)
    for box in boxes where box.name == "idat" {
      var at = box.content.lowerBound
      for range in kept {
        let start = min(box.content.lowerBound + range.lowerBound, box.content.upperBound)
        blank(at..<max(at, start))
        at = max(at, min(start + range.count, box.content.upperBound))
      }
      blank(at..<box.content.upperBound)
    }
  }

  private func boxes(in range: Range<Int>) throws(PhotoError) -> [Box] {
    var (boxes, at) = ([Box](), range.lowerBound)
    while at < range.upperBound {
      var reader = ByteReader(description[at..<range.upperBound])
      guard let size = reader.number(4), let name = reader.name(), size >= 8,
        size <= range.upperBound - at
      else { throw Self.malformed }
      boxes.append(Box(name: name, whole: at..<at + size))
      at += size
    }
    return boxes
  }

  private mutating func blank(_ range: Range<Int>) {
    for index in range { description[index] = 0 }
  }

  /// Makes a box one that is free. It stays, because properties are named by their number.
  private mutating func clear(_ box: Box) {
    let name = box.whole.lowerBound + 4
    description.replaceSubrange(name..<name + 4, with: "free".utf8)
    blank(box.content)
  }

  /// Finds the pictures among the items, and makes all others ones without a type.
  private mutating func readTypes(in range: Range<Int>) throws(PhotoError) {
    // Read beside what is changed, so that no change copies all of it.
    let source = description
    var reader = ByteReader(source[range])
    guard let version = reader.number(1), version <= 1, reader.take(3) != nil,
      let count = reader.number(version == 0 ? 2 : 4), count <= Self.most
    else { throw Self.malformed }
    let entries = try boxes(in: reader.index..<range.upperBound)
    guard entries.count == count else { throw Self.malformed }
    for entry in entries {
      var reader = ByteReader(source[entry.content])
      guard entry.name == "infe", let version = reader.number(1), (2...3).contains(version),
        reader.take(3) != nil, let id = reader.number(version == 2 ? 2 : 4), reader.take(2) != nil
      else { throw Self.malformed }
      let type = reader.index
      guard let name = reader.name() else { throw Self.malformed }
      if Self.pictureTypes.contains(name) {
        pictureIDs.insert(id)
      } else {
        description.replaceSubrange(type..<type + 4, with: "free".utf8)
        blank(type + 4..<entry.content.upperBound)
      }
    }
  }

  private mutating func cleanProperties(in range: Range<Int>) throws(PhotoError) {
    for box in try boxes(in: range) {
      switch box.name {
      case "ipma": break
      case "ipco":
        for property in try boxes(in: box.content) where !Self.properties.contains(property.name) {
          clear(property)
        }
      default: clear(box)
      }
    }
  }

  /// Reads where the items are.
  private mutating func readPlaces(in bytes: ArraySlice<UInt8>) throws(PhotoError) {
    var reader = ByteReader(bytes)
    guard let version = reader.number(1), version <= 2, reader.take(3) != nil,
      let sizes = reader.number(2), let count = reader.number(version < 2 ? 2 : 4),
      count <= Self.most
    else { throw Self.malformed }
    let offsetSize = sizes >> 12, lengthSize = sizes >> 8 & 15, baseSize = sizes >> 4 & 15
    let indexSize = version == 0 ? 0 : sizes & 15
    guard lengthSize > 0 else { throw Self.malformed }
    for _ in 0..<count {
      guard let id = reader.number(version < 2 ? 2 : 4),
        let method = version == 0 ? 0 : reader.number(2).map({ $0 & 15 }), method <= 1,
        // In this file.
        reader.number(2) == 0, let base = reader.number(baseSize), let parts = reader.number(2)
      else { throw Self.malformed }
      for _ in 0..<parts {
        guard reader.take(indexSize) != nil, let offset = reader.number(offsetSize),
          let length = reader.number(lengthSize), length > 0,
          extents.file.count + extents.box.count < Self.most,
          let range = Self.range(base, offset, length)
        else { throw Self.malformed }
        let extent = Extent(range: range, isPicture: pictureIDs.contains(id))
        if method == 0 { extents.file.append(extent) } else { extents.box.append(extent) }
      }
    }
  }

  private static func range(_ base: Int, _ offset: Int, _ length: Int) -> Range<Int>? {
    let most = Int(Int32.max)
    guard base <= most, offset <= most, length <= most else { return nil }
    return base + offset..<base + offset + length
  }

  /// The places of pictures, in order and without overlaps.
  /// - Throws: when a picture shares bytes with an item that is none.
  private static func pictures(among extents: [Extent]) throws(PhotoError) -> [Range<Int>] {
    var (pictures, others) = ([Range<Int>](), 0)
    for extent in extents.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) {
      let (range, end) = (extent.range, pictures.last?.upperBound ?? 0)
      guard range.lowerBound >= (extent.isPicture ? others : end) else { throw malformed }
      guard extent.isPicture else {
        others = max(others, range.upperBound)
        continue
      }
      let start = range.lowerBound < end ? pictures.removeLast().lowerBound : range.lowerBound
      pictures.append(start..<max(end, range.upperBound))
    }
    return pictures
  }
}
