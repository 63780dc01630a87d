package import Documents
package import Stores

/// An index that a design document defines: the documents that it contains, and the fields that it sorts them by.
///
/// Source: CouchDB, "POST /{db}/_index"; a definition is a view of a design document whose language is
/// `query`, so that it replicates.
package struct IndexDefinition: Sendable {
  package let design: DocumentID
  /// The index's name in the design document.
  package let name: String
  /// The fields that the index sorts by; a document without one of them is not in the index.
  let sort: QuerySort
  /// A further condition on the documents; nil for all.
  package private(set) var filter: Selector?
  /// The name of the index's data. Definitions with the same content share it. It depends on the version of the
  /// collation, so another order of strings is another index.
  package let id: IndexID

  /// The prefix of the names of all indexes' data.
  static let namePrefix = "mango-"
  /// The number of bytes of the digest that a bookmark contains.
  static let bookmarkDigestBytes = 8

  /// Makes a definition.
  /// - Throws: 400 `invalid_index` when there is no field or a field occurs twice.
  init(design: DocumentID, name: String, sort: QuerySort, filter: Selector?) throws {
    guard !sort.fields.isEmpty else {
      throw ServiceError(.invalidIndex, "An index needs at least one field.")
    }
    guard Set(sort.fields).count == sort.fields.count else {
      throw ServiceError(.invalidIndex, "An index has each field once.")
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

  /// The definition with the long lists of its filter sorted.
  /// - Throws: `WorkEnded` (503) when the request has ended.
  func prepared() async throws -> IndexDefinition {
    var definition = self
    definition.filter = try await filter?.prepared()
    return definition
  }

  /// The SHA-256 digest of an object.
  static func digest(_ content: JSONValue) throws -> [UInt8] {
    return try DocumentBody(content).digest
  }

  /// The first bytes of the digest in ``id``.
  var bookmarkDigest: [UInt8] {
    let digits = id.text.utf8.dropFirst(Self.namePrefix.utf8.count)
    return Hex.bytes(digits.prefix(2 * Self.bookmarkDigestBytes)) ?? []
  }

  /// The index as `_index` and `_explain` show it.
  var json: JSONValue {
    var content: JSONObject = ["fields": sort.array]
    if let filter { content.append("partial_filter_selector", filter.json) }
    return [
      "ddoc": .string(design.text), "name": .string(name), "type": "json",
      "partitioned": false, "def": .object(content),
    ]
  }

  /// The entry of a document in the index; nil for a document that is not in it.
  /// - Parameter budget: the cost that the filter may have.
  /// - Throws: 400 `selector_too_costly`; `WorkEnded` (503) when the request has ended.
  package func entry(
    for id: DocumentID, _ document: JSONNode, _ budget: inout SelectorBudget
  ) async throws -> IndexEntry? {
    var values: [JSONNode] = []
    for field in sort.fields {
      guard let value = field.value(in: document) else { return nil }
      values.append(value)
    }
    if let filter, try await !filter.matches(document, givingWay: &budget) { return nil }
    let key = IndexKey.kept(IndexKey.bytes(values, of: sort.fields))
    return IndexEntry(id: id, key: key, content: content(of: document))
  }

  // The content that an index stores of its documents.
  //
  // Source: CouchDB, `mango_idx_view:covers` and `mango_cursor_view:derive_doc_from_index`.

  /// Whether each of these fields is one of the index's fields, or the id. As in CouchDB, a part of an indexed field
  /// does not count.
  func covers(_ fields: [FieldPath]) -> Bool {
    fields.allSatisfy { $0.isID || sort.fields.contains($0) }
  }

  /// The content that an entry stores of a document: an object of the index's fields, nested as in the document,
  /// without the id, which the entry contains anyway. Nil when it is longer than ``QueryLimits/contentBytes``.
  func content(of document: JSONNode) -> [UInt8]? {
    var writer = JSONWriter()
    FieldProjection(sort.fields.filter { !$0.isID }).append(document, to: &writer)
    return writer.bytes.count <= QueryLimits.contentBytes ? writer.bytes : nil
  }

  /// The definitions of a design document, in the byte order of their names. Views that define no index are skipped; a
  /// document of another language has none.
  /// - Parameter body: the design document's stored body.
  package static func all(in design: DocumentID, _ body: [UInt8]) -> [IndexDefinition] {
    views(in: body).prefix(QueryLimits.triedDefinitions)
      .compactMap { try? IndexDefinition(view: $0.value, name: $0.name, design: design) }
  }

  /// The views of a design document of language `query`, in the byte order of their names.
  static func views(in body: [UInt8]) -> [JSONMember] {
    guard body.count <= QueryLimits.designBytes,
      let root = try? ParsedJSON(body, limits: .stored).root,
      root["language"]?.stringEquals("query") ?? false, let views = root["views"]
    else { return [] }
    return views.members.sorted { $0.name.precedesBytes(of: $1.name) }
  }

  /// Reads a view in the form that CouchDB and PouchDB write:
  /// `{"map":{"fields":{"a":"asc"},"partial_filter_selector":{}},"reduce":"_count","options":{"def":…}}`.
  /// CouchDB 2.1 called the filter `selector`.
  /// - Throws: 400 for a view that defines no valid index.
  init(view: JSONNode, name: String, design: DocumentID) throws {
    guard let map = view["map"], map.kind == .object, let fields = map["fields"],
      view["options"]?.kind == .object
    else { throw ServiceError(.invalidIndex, "The view defines no index.") }
    let filter = map["partial_filter_selector"] ?? map["selector"]
    try self.init(
      design: design, name: name,
      sort: fields.kind == .array ? QuerySort(fields) : QuerySort(members: fields),
      filter: filter.flatMap { $0.count == 0 ? nil : $0 }.map { try Selector($0) })
  }

  /// The view that defines the index.
  /// - Parameter given: the definition as the client sent it.
  package func view(as given: JSONValue) -> JSONValue {
    [
      "map": ["fields": sort.object, "partial_filter_selector": filter?.json ?? [:]],
      "reduce": "_count",
      "options": ["def": given],
    ]
  }
}

extension IndexEntry {
  /// The document with the fields that the entry stores; nil for an entry without content.
  package var coveredDocument: [UInt8]? {
    content.map { content in
      JSONWriter.object(reserving: content.count + id.text.utf8.count + 16) { writer in
        writer.member("_id", id.text)
        writer.members(of: content)
      }
    }
  }
}

/// How well one index fits one query.
struct IndexFit: Sendable {
  let fields: [FieldPath]
  /// The values of the index's first fields that the selector fixes to one value.
  let fixed: [JSONNode]
  /// The range of the next field after them; nil when the selector gives none.
  let bounds: FieldBounds?
  /// How many of the index's first fields are among ``SelectorFacts/indexableFields``.
  let overlap: Int

  /// Compares an index's fields with a selector.
  init(_ fields: [FieldPath], _ selector: Selector, _ facts: SelectorFacts) {
    var fixed: [JSONNode] = []
    var last: FieldBounds?
    for field in fields {
      guard let bounds = selector.bounds(of: field) else { break }
      guard bounds.isEquality, let value = bounds.lower else {
        last = bounds
        break
      }
      fixed.append(value)
    }
    self.fields = fields
    self.fixed = fixed
    bounds = last
    overlap = fields.prefix { facts.indexableFields.contains($0) }.count
  }

  /// The range of keys to read; nil when no key can match.
  func range(descending: Bool) -> IndexRange? {
    let base = IndexKey.bytes(fixed, of: fields)
    var range = IndexRange(start: base, descending: descending)
    range.end = base.isEmpty ? nil : JSONCollation.successor(base)
    if let bounds {
      guard !bounds.isEmpty else { return nil }
      if let lower = bounds.lower {
        let key = IndexKey.bytes(fixed + [lower], of: fields)
        guard let start = bounds.includesLower ? key : JSONCollation.successor(key) else {
          return nil
        }
        range.start = start
      }
      if let upper = bounds.upper {
        let key = IndexKey.bytes(fixed + [upper], of: fields)
        range.end = bounds.includesUpper ? JSONCollation.successor(key) : key
      }
    }
    if let end = range.end, !range.start.lexicographicallyPrecedes(end) { return nil }
    // The index stores shortened keys, so the start must be shortened too. A shortened key never comes after the whole
    // key, so the end can stay.
    range.start = IndexKey.kept(range.start)
    return range
  }
}
