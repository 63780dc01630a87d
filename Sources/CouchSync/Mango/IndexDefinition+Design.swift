import Documents
import Stores

extension IndexDefinition {
  /// The definitions of a design document, in the byte order of their names; views that define none are
  /// passed over, as are all of a document that is not for queries.
  /// - Parameter body: the design document's stored body.
  /// - Parameter most: definitions to read at most, those that turn out to be none included.
  static func all(
    in design: DocumentID, _ body: [UInt8], most: Int = QueryLimits.triedDefinitions
  ) -> [IndexDefinition] {
    views(in: body).prefix(most)
      .compactMap { try? IndexDefinition(view: $0.value, name: $0.name, design: design) }
  }

  /// The views of a design document for queries, in the byte order of their names.
  static func views(in body: [UInt8]) -> [JSONMember] {
    guard body.count <= QueryLimits.designBytes,
      let root = try? ParsedJSON(body, limits: .stored).root,
      root["language"]?.stringEquals("query") ?? false, let views = root["views"]
    else { return [] }
    return views.members.sorted { $0.name.precedesBytes(of: $1.name) }
  }

  /// Reads a view as CouchDB and PouchDB write it:
  /// `{"map":{"fields":{"a":"asc"},"partial_filter_selector":{}},"reduce":"_count","options":{"def":…}}`.
  /// CouchDB 2.1 called the filter `selector`.
  /// - Throws: what is wrong with it.
  init(view: JSONNode, name: String, design: DocumentID) throws(CouchError) {
    guard let map = view["map"], map.kind == .object, let fields = map["fields"],
      view["options"]?.kind == .object
    else { throw CouchError(400, "invalid_index", "The view defines no index.") }
    let filter = map["partial_filter_selector"] ?? map["selector"]
    try self.init(
      design: design, name: name,
      sort: fields.kind == .array ? QuerySort(fields) : QuerySort(members: fields),
      filter: filter.flatMap { $0.count == 0 ? nil : $0 }.map { node throws(CouchError) in
        try QueryOption.selector(node)
      })
  }

  /// The view that defines the index.
  /// - Parameter given: the definition as the client wrote it.
  func view(as given: JSONValue) -> JSONValue {
    [
      "map": [
        "fields": sort.object, "partial_filter_selector": filter?.json ?? [:],
      ],
      "reduce": "_count",
      "options": ["def": given],
    ]
  }
}
