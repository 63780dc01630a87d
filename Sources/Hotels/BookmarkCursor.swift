import Crypto
import Documents

/// Where a page of bookmarks ended: `<place>-<16 hex digits>`, opaque to clients.
///
/// The place is the last answered id's index in the list, oldest first; the digits are the first 8 bytes
/// of the SHA-256 of that id. It gives no authority, so it is not signed; at most 24 bytes.
package struct BookmarkCursor: Sendable, Equatable, CustomStringConvertible {
  /// The highest place that the grammar writes.
  package static let maximumPlace = 9_999_999

  private let place: Int
  private let mark: String

  /// The cursor after the id at a place of a list.
  init(after id: HotelID, at place: Int) {
    self.place = min(place, Self.maximumPlace)
    self.mark = Self.mark(of: id)
  }

  /// Reads a cursor as ``description`` wrote it; nil for any other text.
  package init?(_ text: String) {
    let bytes = Array(text.utf8)
    guard let dash = bytes.firstIndex(of: UInt8(ascii: "-")), (1...7).contains(dash) else {
      return nil
    }
    let (digits, mark) = (bytes[..<dash], bytes[(dash + 1)...])
    guard digits.allSatisfy({ (0x30...0x39).contains($0) }),
      digits.first != 0x30 || digits.count == 1,
      let place = Int(String(decoding: digits, as: UTF8.self)),
      mark.count == 16, Hex.bytes(mark) != nil
    else { return nil }
    self.place = place
    self.mark = String(decoding: mark, as: UTF8.self)
  }

  package var description: String { "\(place)-\(mark)" }

  /// Where the page's end is looked for, downwards.
  ///
  /// What was older than the page's end stands at its place or before it, whatever came and went since. So
  /// the id is looked for from there downwards; when it is gone (or was bookmarked anew, which put it
  /// last), the place itself counts. No bookmark that stays is passed over.
  func start(in list: BookmarkList) -> Int { min(place, list.hotels.count - 1) }

  /// Whether this is the cursor after an id.
  func isAfter(_ id: HotelID) -> Bool { Self.mark(of: id).equalsBytes(of: mark) }

  /// How many ids from the list's start the next page chooses from where the page's end is gone.
  func placeOfLost(in list: BookmarkList) -> Int { min(place, list.hotels.count) }

  private static func mark(of id: HotelID) -> String {
    Hex.string(Array(SHA256.hash(data: Array(id.text.utf8))).prefix(8))
  }
}
