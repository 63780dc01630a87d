package import Documents

/// Which documents' changes are wanted.
///
/// Source: CouchDB, "Changes feeds: filtering".
package enum ChangesFilter: Sendable, Equatable {
  /// All.
  case everything
  /// `_doc_ids`: these.
  case documents(Set<DocumentID>)
  /// `_design`: design documents.
  case designs

  /// Reads `filter` and, for `_doc_ids`, the ids from the body or the query.
  /// - Throws: 400 without ids; 501 for a filter that is a function, or unknown.
  init(_ parameters: CouchParameters, body: JSONNode?) throws(CouchError) {
    switch parameters["filter"] {
    case nil: self = .everything
    case "_design": self = .designs
    case "_doc_ids":
      self = .documents(try Self.ids(parameters, body))
    default:
      throw CouchError(
        501, "not_implemented",
        "Of filters, _doc_ids and _design are offered; functions are not run")
    }
  }

  private static func ids(
    _ parameters: CouchParameters, _ body: JSONNode?
  ) throws(CouchError) -> Set<DocumentID> {
    let given = try parameters.json("doc_ids")
    guard let ids = (body?["doc_ids"]?.value ?? given)?.array else {
      throw .badRequest("`doc_ids` filter parameter is not provided.")
    }
    var documents: Set<DocumentID> = []
    for id in ids {
      guard let text = id.string else {
        throw .badRequest("`doc_ids` filter parameter is not a list of doc ids.")
      }
      documents.insert(DocumentID(stored: text))
    }
    return documents
  }

  /// Whether a document's change is wanted.
  func wants(_ id: DocumentID) -> Bool {
    switch self {
    case .everything: true
    case .documents(let ids): ids.contains(id)
    case .designs: id.isDesign
    }
  }
}
