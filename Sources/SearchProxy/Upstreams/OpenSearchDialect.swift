package import Documents
package import Hotels

/// OpenSearch and Elasticsearch: phrases, each over several fields, with whole documents in the hits.
///
/// Source: OpenSearch documentation, "Search API", "Multi-match queries: phrase", "Retrieve specific fields".
package struct OpenSearchDialect: QueryDialect {
  package var probePath: String { "/" }

  package init() {}
  /// The engine returns no hits beyond this position (`index.max_result_window`).
  private static let window = 10_000

  /// The path always selects the same copies of the index. The order of hotels with equal scores differs between
  /// copies ("Search API", `preference`), so pages would repeat and skip some.
  package func path(index: String) -> String { "/\(index)/_search?preference=hotel-bookmarks" }

  package func body(for query: HotelQuery) -> [UInt8] {
    let must = HotelFields.searched(by: query).map { Self.phrase($0.text, in: $0.fields) }
    let all: JSONValue = ["match_all": [:]]
    return Self.request(
      must.isEmpty ? all : ["bool": ["must": .array(must)]],
      size: max(0, min(query.limit, Self.window - query.offset)),
      from: min(query.offset, Self.window))
  }

  package func body(for id: HotelID) -> [UInt8] {
    Self.request(["ids": ["values": [.string(id.text)]]], size: 1, from: 0)
  }

  package func page(_ root: JSONNode, for query: HotelQuery) throws(SearchError) -> HotelPage {
    guard let timedOut = root["timed_out"]?.bool, let failed = root["_shards"]?["failed"]?.int,
      let hits = root["hits"]?["hits"], hits.kind == .array
    else { throw .badAnswer("the answer has no hits") }
    guard !timedOut, failed == 0 else {
      throw .unavailable(timedOut ? "the engine ran out of time" : "\(failed) shards failed")
    }
    var rows = QueryRows()
    for hit in hits.elements { rows.add(id: hit["_id"], fields: hit["_source"], isFlat: false) }
    let total = root["hits"]?["total"]?["value"]?.int ?? 0
    return try rows.page(for: query, total: min(total, Self.window))
  }

  private static func phrase(_ text: String, in fields: [String]) -> JSONValue {
    [
      "multi_match": [
        "query": .string(text), "type": "phrase",
        "fields": .array(fields.map { .string($0) }),
      ]
    ]
  }

  private static func request(_ query: JSONValue, size: Int, from: Int) -> [UInt8] {
    let request: JSONValue = [
      "query": query,
      "_source": .array(HotelFields.asked.map { .string($0) }),
      "size": .number(JSONNumber(size)),
      "from": .number(JSONNumber(from)),
      "timeout": "1500ms",
      "track_total_hits": .number(JSONNumber(window)),
    ]
    return request.bytes
  }
}
