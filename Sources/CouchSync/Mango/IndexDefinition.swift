import Documents
import Stores

/// An index that a design document defines: which documents it holds, and what it sorts them by.
///
/// Source: CouchDB, "POST /{db}/_index"; a definition is a view of a design document whose language is
/// `query`, so that it replicates.
struct IndexDefinition: Sendable {
  /// The design document.
  let design: DocumentID
  /// The index's name in the design document.
  let name: String
  /// What the index sorts by; a document without one of these fields is not in it.
  let sort: QuerySort
  /// Which documents it holds besides; nil for all.
  let filter: Selector?
  /// The name of the index's data: definitions that say the same share it, and another order of strings
  /// is another index.
  let id: IndexID

  /// What the names of all indexes' data start with.
  static let namePrefix = "mango-"
  /// Bytes of the digest that a bookmark carries.
  static let bookmarkDigestBytes = 8

  /// A definition.
  /// - Throws: 400 `invalid_index` for no field or a field that comes twice.
  init(
    design: DocumentID, name: String, sort: QuerySort, filter: Selector?
  ) throws(CouchError) {
    guard !sort.fields.isEmpty else {
      throw CouchError(400, "invalid_index", "An index needs at least one field.")
    }
    guard Set(sort.fields).count == sort.fields.count else {
      throw CouchError(400, "invalid_index", "An index has each field once.")
    }
    self.design = design
    self.name = name
    self.sort = sort
    self.filter = filter
    let content: JSONValue = [
      "collation": .string(JSONCollation.version),
      "fields": .array(sort.fields.map { .string($0.text) }),
      "filter": filter?.json ?? .null,
    ]
    id = IndexID(Self.namePrefix + Hex.string(try Self.digest(content)))
  }

  /// The SHA-256 digest of an object.
  static func digest(_ content: JSONValue) throws(CouchError) -> [UInt8] {
    do { return try DocumentBody(content).digest } catch { throw CouchError(error) }
  }

  /// The beginning of the digest in ``id``.
  var bookmarkDigest: [UInt8] {
    let digits = id.text.utf8.dropFirst(Self.namePrefix.utf8.count)
    return Hex.bytes(digits.prefix(2 * Self.bookmarkDigestBytes)) ?? []
  }

  /// What the index is, as `_index` and `_explain` show it.
  var json: JSONValue {
    var content: JSONObject = ["fields": sort.array]
    if let filter { content.append("partial_filter_selector", filter.json) }
    return [
      "ddoc": .string(design.text), "name": .string(name), "type": "json",
      "partitioned": false, "def": .object(content),
    ]
  }

  /// A document's place in the index; nil for a document that is not in it.
  /// - Parameter budget: what the filter may cost.
  /// - Throws: 400 `selector_too_costly`; 503 when nobody waits for the answer any more.
  func entry(
    for id: DocumentID, _ document: JSONNode, _ budget: inout SelectorBudget
  ) async throws(CouchError) -> IndexEntry? {
    var values: [JSONNode] = []
    for field in sort.fields {
      guard let value = field.value(in: document) else { return nil }
      values.append(value)
    }
    if let filter, try await !filter.matches(document, givingWay: &budget) { return nil }
    return IndexEntry(id: id, key: IndexKey.kept(IndexKey.bytes(values, of: sort.fields)))
  }
}
