package import Documents

/// Which documents' changes are wanted.
///
/// Source: CouchDB, "Changes feeds: filtering".
package enum ChangesFilter: Sendable {
  /// All.
  case everything
  /// `_doc_ids`: these.
  case documents(Set<DocumentID>)
  /// `_design`: design documents.
  case designs
  /// `_selector`: documents that a Mango selector matches.
  case selector(Selector)
  /// One of a design document, which is not run.
  case function(DesignFunction)

  /// Reads `filter`; for `_doc_ids` the ids from the body or the query, for `_selector` the body's member.
  /// - Throws: 413 for more than ``CouchLimits/filteredDocuments`` ids; 400 without ids or selector, for a malformed one
  ///   and for an unknown filter.
  init(_ parameters: CouchParameters, body: JSONNode?) throws(CouchError) {
    switch parameters["filter"] {
    case nil, "": self = .everything
    case "_design": self = .designs
    case "_doc_ids":
      self = .documents(try Self.ids(parameters, body))
    case "_selector":
      self = .selector(try Self.selector(body))
    case "_view":
      guard let view = parameters["view"], !view.isEmpty else {
        throw .badRequest("`view` filter parameter is not provided.")
      }
      self = .function(try DesignFunction(.views, parameter: view))
    case let name? where name.utf8.first == UInt8(ascii: "_"):
      throw .badRequest("unknown builtin filter name")
    case let name?: self = .function(try DesignFunction(.filters, parameter: name))
    }
  }

  /// As in CouchDB every fault of a selector is a `bad_request` here.
  private static func selector(_ body: JSONNode?) throws(CouchError) -> Selector {
    guard let node = body?["selector"] else {
      throw .badRequest("Selector must be specified in POST payload")
    }
    do { return try Selector(node) } catch { throw .badRequest(error.reason) }
  }

  private static func ids(
    _ parameters: CouchParameters, _ body: JSONNode?
  ) throws(CouchError) -> Set<DocumentID> {
    let given = try parameters.json("doc_ids")
    guard let ids = body?["doc_ids"] ?? given, ids.kind == .array else {
      throw .badRequest("`doc_ids` filter parameter is not provided.")
    }
    var documents: Set<DocumentID> = []
    for (place, id) in ids.elements.enumerated() {
      guard place < CouchLimits.filteredDocuments else {
        throw .tooLarge("`doc_ids` has at most \(CouchLimits.filteredDocuments) ids")
      }
      guard let text = id.string else {
        throw .badRequest("`doc_ids` filter parameter is not a list of doc ids.")
      }
      documents.insert(DocumentID(stored: text))
    }
    return documents
  }
}
