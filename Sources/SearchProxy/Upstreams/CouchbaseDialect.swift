package import Documents
package import Hotels

/// Couchbase's Search Service: a conjunction of disjunctions of phrases, with stored fields in the hits.
///
/// Source: Couchbase Server documentation, "Search Request JSON Properties" and "Search Response Objects". The
/// query is the same as that of the travel-sample back ends, which build it with their SDKs.
package struct CouchbaseDialect: QueryDialect {
  package var probePath: String { "/api/ping" }

  package init() {}
  /// The engine's own time limit, in milliseconds. The client's deadline is a little longer.
  private static let timeout = 1_500

  package func path(index: String) -> String { "/api/index/\(index)/query" }

  package func body(for query: HotelQuery) -> [UInt8] {
    let conjuncts = HotelFields.searched(by: query).map { Self.phrases($0.text, in: $0.fields) }
    let all: JSONValue = ["match_all": [:]]
    return Self.request(
      conjuncts.isEmpty ? all : ["conjuncts": .array(conjuncts)], size: query.limit,
      from: query.offset)
  }

  package func body(for id: HotelID) -> [UInt8] {
    Self.request(["ids": [.string(id.text)]], size: 1, from: 0)
  }

  package func page(_ root: JSONNode, for query: HotelQuery) throws(SearchError) -> HotelPage {
    guard let status = root["status"], let failed = status["failed"]?.int else {
      throw .badAnswer("the answer has no status")
    }
    // When a partition fails, the engine returns a shorter list that looks complete.
    guard failed == 0 else { throw .unavailable("\(failed) partitions failed") }
    guard let hits = root["hits"], hits.kind == .array || hits.isNull else {
      throw .badAnswer("hits is not an array")
    }
    var rows = QueryRows()
    for hit in hits.elements { rows.add(id: hit["id"], fields: hit["fields"], isFlat: true) }
    let total = root["total_hits"]?.int ?? 0
    return try rows.page(for: query, total: total)
  }

  private static func phrases(_ text: String, in fields: [String]) -> JSONValue {
    .object([
      "disjuncts": .array(fields.map { ["match_phrase": .string(text), "field": .string($0)] })
    ])
  }

  private static func request(_ query: JSONValue, size: Int, from: Int) -> [UInt8] {
    let request: JSONValue = [
      "query": query,
      "fields": .array(HotelFields.asked.map { .string($0) }),
      "size": .number(JSONNumber(size)),
      "from": .number(JSONNumber(from)),
      // A fixed order of equal scores, so that pages neither repeat nor skip a hotel.
      "sort": ["-_score", "_id"],
      "ctl": ["timeout": .number(JSONNumber(timeout))],
    ]
    return request.bytes
  }
}
