import Documents
import Scheduling
import Testing

@testable import Hotels

/// A valid hotel id.
func hotelID(_ text: String) throws -> HotelID { try #require(HotelID(text)) }

/// A list of ids.
func list(_ ids: String...) throws -> BookmarkList { BookmarkList(try ids.map(hotelID)) }

/// A body, parsed from its text.
func body(_ text: String) throws -> DocumentBody { try DocumentBody(parsing: Array(text.utf8)) }

/// A hotel as a client sends it.
func hotel(_ text: String) throws -> Hotel {
  try Hotel(ParsedJSON(Array(text.utf8), limits: .document).root, from: .client)
}

/// A batch, parsed from its text.
func batch(_ text: String) throws -> BookmarkBatch {
  try BookmarkBatch(parsing: ParsedJSON(Array(text.utf8), limits: .request).root)
}

extension BookmarkList {
  /// Reads the list of a stored body in one piece. When `hotels` is not an array, the list is empty.
  init(parsing body: [UInt8]) throws {
    let root = try ParsedJSON(body, limits: .request).root
    self.init(ofBytes: body.count)
    guard var entries = root["hotels"]?.elements else { return }
    _ = take(from: &entries, within: .endless)
  }

  /// The ids' texts.
  var texts: [String] { hotels.map(\.text) }
}

extension BookmarkMerge {
  /// Merges the leaves of a document in one piece.
  static func resolve(
    _ tree: RevisionTree, target: Target = .sameDocument,
    list: (RevisionID) throws -> BookmarkList?
  ) throws -> Side? {
    var merge = try begin(tree, target: target, list: list)
    return merge?.next(within: .endless)
  }
}

extension [UInt8] {
  /// The bytes as text.
  var text: String { String(decoding: self, as: UTF8.self) }
}
