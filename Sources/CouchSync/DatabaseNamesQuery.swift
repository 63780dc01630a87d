import Documents
import JSON

/// Which databases `_all_dbs` and `_dbs_info` are asked for: `descending`, `limit`, `skip`, `key`,
/// `startkey`, `endkey` (each JSON, also with `_`), `inclusive_end` and `keys`.
///
/// Source: CouchDB, "GET /_all_dbs".
package struct DatabaseNamesQuery: Sendable {
  /// Databases that `POST _dbs_info` tells of in one request, as in CouchDB
  /// (`max_db_number_for_dbs_info_req`).
  package static let maximumKeys = 100

  private let query: AllDocumentsQuery

  /// Reads the parameters.
  /// - Throws: 400 `query_parse_error`.
  package init(_ parameters: CouchParameters) throws {
    query = try AllDocumentsQuery(parameters)
  }

  /// Those that are asked for by name, whether they are there or not; nil where a range is.
  package var keys: [String]? {
    guard query.keys != nil else { return nil }
    var (asked, names) = (AskedKeys(query), [String]())
    while !asked.prepare() {}
    while let key = asked.next() {
      if let name = key.string { names.append(name) }
    }
    return names
  }

  /// Those that are asked for, in the order asked for.
  /// - Parameter names: all of them, in byte order.
  package func chosen(from names: [String]) -> [String] {
    if let keys {
      let known = Set(names.map(DocumentID.init(stored:)))
      return keys.filter { known.contains(DocumentID(stored: $0)) }
    }
    let inOrder = query.descending ? names.reversed() : names
    return Array(
      inOrder.filter(isBetween).dropFirst(query.skip).prefix(query.limit ?? names.count))
  }

  private func isBetween(_ name: String) -> Bool {
    let place = KeyBound.at(name)
    func isBehind(_ one: KeyBound, _ other: KeyBound) -> Bool {
      query.descending ? other.isBehind(one) : one.isBehind(other)
    }
    if let start = query.start, isBehind(start, place) { return false }
    guard let end = query.end else { return true }
    if isBehind(place, end) { return false }
    return query.includesEnd || isBehind(end, place)
  }
}
