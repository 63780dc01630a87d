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
  private(set) var filter: Selector?
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

  /// The same with its filter's long lists in order.
  /// - Throws: 503 when nobody waits for the answer any more.
  func prepared() async throws(CouchError) -> IndexDefinition {
    var definition = self
    definition.filter = try await filter?.prepared()
    return definition
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
    let key = IndexKey.kept(IndexKey.bytes(values, of: sort.fields))
    return IndexEntry(id: id, key: key, content: content(of: document))
  }
}

/// What an index tells of its documents by itself.
///
/// Source: CouchDB, `mango_idx_view:covers` and `mango_cursor_view:derive_doc_from_index`.
extension IndexDefinition {
  /// Whether each of some fields is one of the index's, or the id. As in CouchDB a part of an indexed field is
  /// not.
  func covers(_ fields: [FieldPath]) -> Bool {
    fields.allSatisfy { $0.isID || sort.fields.contains($0) }
  }

  /// What an entry keeps of a document: an object of the index's fields, nested as in the document, but for the id,
  /// which the entry has anyway; nil for more than ``QueryLimits/contentBytes``.
  func content(of document: JSONNode) -> [UInt8]? {
    var writer = JSONWriter()
    FieldProjection(sort.fields.filter { !$0.isID }).append(document, to: &writer)
    return writer.bytes.count <= QueryLimits.contentBytes ? writer.bytes : nil
  }
}

extension IndexEntry {
  /// The document as far as the entry tells of it; nil for an entry that keeps nothing.
  var coveredDocument: [UInt8]? {
    guard let content else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(content.count + id.text.utf8.count + 16)
    bytes += #"{"_id":"#.utf8
    JSONWriter.appendString(id.text, to: &bytes)
    bytes.append(content.count > 2 ? UInt8(ascii: ",") : UInt8(ascii: "}"))
    if content.count > 2 { bytes += content[1...] }
    return bytes
  }
}
