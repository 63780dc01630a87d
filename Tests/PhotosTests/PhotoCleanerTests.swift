import Foundation
import Photos
import Testing

/// Photos with a position, the maker's data, texts and times, made by Pillow and libheif.
@Suite struct PhotoCleanerTests {
  @Test(arguments: [
    ("jpeg", PhotoType.jpeg), ("progressive", .jpeg), ("png", .png), ("webp", .webp),
    ("animated-webp", .webp), ("gif", .gif), ("heic", .heic),
  ])
  func nothingOfThePersonStays(_ name: String, _ type: PhotoType) throws {
    let photo = try Self.seed(name)
    #expect(Self.tells(photo), "the photo has something to remove")
    let cleaned = try Self.clean(photo)
    #expect(cleaned.type == type)
    #expect(!Self.tells(cleaned.bytes))
    #expect(try Self.clean(cleaned.bytes).bytes == cleaned.bytes)
  }

  @Test(arguments: ["jpeg", "png", "webp"])
  func orientationStays(_ name: String) throws {
    let cleaned = try Self.clean(try Self.seed(name)).bytes
    // One entry: tag 0x0112, of type SHORT, one value, 6.
    let entry: [UInt8] = [1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, 6, 0]
    #expect(cleaned.firstRange(of: entry) != nil)
  }

  @Test(arguments: ["jpeg", "png", "webp", "gif", "heic"])
  func piecesDoNotMatter(_ name: String) throws {
    let photo = try Self.seed(name)
    let whole = try Self.clean(photo).bytes
    for count in [1, 2, 3, 7, 100] { #expect(try Self.clean(photo, count).bytes == whole) }
  }

  @Test(arguments: ["jpeg", "png", "webp", "gif", "heic"])
  func whatFollowsThePhotoGoes(_ name: String) throws {
    let photo = try Self.seed(name)
    let text = Array("GPS 35.6586 139.7454 in a second picture".utf8)
    let tail = name == "heic" ? [0, 0, 0, UInt8(text.count + 8)] + Array("mpvd".utf8) + text : text
    let cleaned = try Self.clean(photo + tail).bytes
    #expect(cleaned.firstRange(of: text) == nil)
  }

  @Test(arguments: ["jpeg", "png", "webp", "gif", "heic"])
  func cutOffPhotoIsRefused(_ name: String) throws {
    let photo = try Self.seed(name)
    for count in stride(from: 12, to: photo.count - 1, by: 97) {
      // A file of boxes may end behind any of them.
      let isTaken = (try? Self.clean(Array(photo.prefix(count)))) != nil
      #expect(!isTaken || name == "heic", "\(count) bytes")
    }
  }

  @Test(arguments: [
    "", "short", "<svg xmlns='http://www.w3.org/2000/svg'/>", "%PDF-1.7 and more bytes",
    "BM and a bitmap of Windows", "II*\0 and a TIFF, which is no photo here",
    "\0\0\0\u{18}ftypavif\0\0\0\0avifmif1", "RIFF\0\0\0\0WAVEfmt ",
  ])
  func otherTypesAreUnknown(_ text: String) {
    #expect(throws: PhotoError.unknownType) { try Self.clean(Array(text.utf8)) }
  }

  @Test func sequenceOfHEICIsRefused() {
    let photo = Array("\0\0\0\u{18}ftypheic\0\0\0\0heicmif1\0\0\0\u{08}moov".utf8)
    #expect(throws: PhotoError.malformed("The HEIC is a sequence of pictures")) {
      try Self.clean(photo)
    }
  }

  @Test func itemsBehindTheirBytesAreRefused() {
    let photo = Array("\0\0\0\u{18}ftypheic\0\0\0\0heicmif1\0\0\0\u{09}mdat.".utf8)
    #expect(throws: PhotoError.self) { try Self.clean(photo) }
  }

  @Test func exifThatSharesThePicturesBytesIsRefused() throws {
    var photo = try Self.seed("heic")
    // The first item's part becomes as long as the file, so that it contains the Exif's.
    let places = try #require(photo.firstRange(of: Array("iloc".utf8))).upperBound
    try #require(photo[places] == 0 && photo[places + 4] == 0x44)
    // The version, sizes, the count; of the item its id, file, base, and how many parts it has.
    let item = places + 8 + 4 + Int(photo[places + 5] >> 4) + 2
    photo.replaceSubrange(item + 4..<item + 8, with: [0, 0, 0x7F, 0xFF])
    #expect(throws: PhotoError.malformed("The items of the HEIC can't be read")) {
      try Self.clean(photo)
    }
  }

  // MARK: -

  private static func seed(_ name: String) throws -> [UInt8] {
    let file = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../Fuzzing/Seeds/photos/\(name)")
    return Array(try Data(contentsOf: file))
  }

  private static func clean(
    _ bytes: [UInt8], _ count: Int? = nil
  ) throws -> (type: PhotoType, bytes: [UInt8]) {
    var (cleaner, cleaned) = (PhotoCleaner(), [UInt8]())
    for start in stride(from: 0, to: bytes.count, by: count ?? max(1, bytes.count)) {
      cleaned += try cleaner.clean(Array(bytes[start...].prefix(count ?? bytes.count)))
    }
    return (try cleaner.finish(), cleaned)
  }

  /// Whether bytes have the maker's name, a text, or the tag of the position (0x8825) in an Exif.
  private static func tells(_ bytes: [UInt8]) -> Bool {
    let marks = ["Camera & Co", "xpacket", "W5M0MpCehiHzreSzNTczkc9d", "taken at home"]
    return marks.contains { bytes.firstRange(of: Array($0.utf8)) != nil }
      || bytes.firstRange(of: [0x25, 0x88, 4, 0]) != nil
      || bytes.firstRange(of: [0x88, 0x25, 0, 4]) != nil
  }
}
