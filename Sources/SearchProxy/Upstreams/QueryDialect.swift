import Documents
import Hotels

/// How a search engine that takes queries as JSON over HTTP is asked, and how its answers read.
protocol QueryDialect: Sendable {
  /// What metrics and logs call an engine of this kind unless the configuration names it.
  static var kind: String { get }
  /// The path of a cheap request that says whether somebody is there.
  static var probePath: String { get }
  /// The path of a search, for an index whose name is encoded as one segment.
  func path(index: String) -> String
  /// The body of a search.
  func body(for query: HotelQuery) -> [UInt8]
  /// The body of a look-up by id.
  func body(for id: HotelID) -> [UInt8]
  /// The hotels of an answer, in its order, and whether there are more behind them.
  /// - Throws: ``SearchError`` for an answer that is none, or that not all of the engine has given.
  func page(_ root: JSONNode, for query: HotelQuery) throws(SearchError) -> HotelPage
}

/// The fields of a hotel that an engine is asked for and that are taken from its answers.
enum HotelFields {
  /// Where a text about the place is looked for.
  static let location = ["country", "city", "state", "address"]
  /// Where a text about the hotel is looked for.
  static let description = ["description", "name"]
  /// What is asked for: a search engine may hold more, which is nobody's business here.
  static let asked = [
    "name", "title", "address", "city", "state", "country", "description", "directions", "phone",
    "tollfree", "email", "fax", "url", "checkin", "checkout", "price", "vacancy", "alias",
    "free_breakfast", "free_internet", "free_parking", "pets_ok", "geo.lat", "geo.lon",
    "geo.accuracy",
  ]
}
