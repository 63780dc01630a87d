import Documents
import Hotels
import Testing

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
  /// The ids' texts.
  var texts: [String] { hotels.map(\.text) }
}

extension [UInt8] {
  /// The bytes as text.
  var text: String { String(decoding: self, as: UTF8.self) }
}
