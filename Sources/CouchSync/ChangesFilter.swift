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

  /// Reads `filter`; for `_doc_ids` the ids from the body or the query, for `_selector` the body's member.
  /// - Throws: 400 without ids or selector, for a malformed one and for an unknown filter; 501 for one that
  ///   is a function.
  init(_ parameters: CouchParameters, body: JSONNode?) throws(CouchError) {
    switch parameters["filter"] {
    case nil, "": self = .everything
    case "_design": self = .designs
    case "_doc_ids":
      self = .documents(try Self.ids(parameters, body))
    case "_selector":
      self = .selector(try Self.selector(body))
    case let name? where name.utf8.first == UInt8(ascii: "_") && !name.equalsBytes(of: "_view"):
      throw .badRequest("unknown builtin filter name")
    default:
      throw CouchError(
        501, "not_implemented",
        "Of filters, _doc_ids, _selector and _design are offered; functions are not run")
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
}
