package import Documents
package import Hotels

/// The requests and answers of a search engine that takes queries as JSON over HTTP.
package protocol QueryDialect: Sendable {
  /// The path of a cheap request that shows whether the engine answers.
  var probePath: String { get }
  /// The path of a search in an index. The index's name must be encoded as one segment.
  func path(index: String) -> String
  func body(for query: HotelQuery) -> [UInt8]
  func body(for id: HotelID) -> [UInt8]
  /// The hotels of an answer, in its order, and whether there are more after them.
  /// - Throws: ``SearchError`` for an invalid answer, and for one in which a part of the engine failed.
  func page(_ root: JSONNode, for query: HotelQuery) throws(SearchError) -> HotelPage
}

/// The fields of a hotel that are requested from an engine and read from its answers.
enum HotelFields {
  /// The fields in which the location is searched.
  static let location = ["country", "city", "state", "address"]
  /// The fields in which the description is searched.
  static let description = ["description", "name"]
  /// The requested fields. The engine may have more, which this service does not need.
  static let asked = [
    "name", "title", "address", "city", "state", "country", "description", "directions", "phone",
    "tollfree", "email", "fax", "url", "checkin", "checkout", "price", "vacancy", "alias",
    "free_breakfast", "free_internet", "free_parking", "pets_ok", "geo.lat", "geo.lon",
    "geo.accuracy",
  ]

  /// The texts of a query, and the fields in which each is searched.
  static func searched(by query: HotelQuery) -> [(text: String, fields: [String])] {
    [(query.location, location), (query.description, description)].compactMap { text, fields in
      text.map { ($0, fields) }
    }
  }
}
