package import CouchQuery
package import Documents
import Stores

/// The parameters of `_changes`, and how far they have been answered. The caller decides how long to wait for further
/// changes.
///
/// Source: CouchDB, "GET /{db}/_changes".
package struct ChangesQuery: Sendable {
  /// The revisions that a row contains.
  package enum Style: Sendable {
    case winner
    /// All leaves, winner first.
    case leaves
  }

  /// The position at which the changes begin; not used in a descending query.
  package private(set) var since: SinceToken
  /// The most rows; nil for all.
  package private(set) var limit: Int?
  /// Whether the newest change comes first.
  package let descending: Bool
  /// The revisions that a row contains.
  package let style: Style
  /// Whether a row contains the winning document.
  package let includesDocuments: Bool
  package private(set) var filter: ChangesFilter
  /// The extra members of a row's document.
  let extras: DocumentExtras
  /// What is around the rows.
  package var frame = ChangesRows.Frame.array
  /// The last sequence when the first page was read, so that the answer ends while others write.
  private(set) var end: Int64?

  /// Reads the parameters. `seq_interval`, which saves sequences that are costly in a cluster, is checked but has no
  /// effect, because here a row's sequence costs nothing.
  /// - Parameter lastEvent: the header `Last-Event-ID` of an event source that connects again. It takes precedence over
  ///   the parameter `last-event-id`, which takes precedence over `since`.
  /// - Throws: 400.
  package init(
    _ parameters: CouchParameters, body: JSONNode? = nil, lastEvent: String? = nil
  ) throws {
    since = .start
    for given in [parameters["since"], parameters["last-event-id"], lastEvent] {
      if let given { since = try SinceToken(given) }
    }
    limit = try parameters.count("limit")
    descending = parameters.isTrue("descending")
    includesDocuments = parameters.isTrue("include_docs")
    var extras = DocumentExtras()
    extras.conflicts = parameters.isTrue("conflicts")
    if parameters.isTrue("attachments") { extras.attachments = .all }
    self.extras = extras
    filter = try ChangesFilter(parameters, body: body)
    if let interval = parameters["seq_interval"], Int(interval).map({ $0 < 1 }) ?? true {
      throw ServiceError.badRequest("invalid_seq_interval")
    }
    switch parameters["style"] {
    case nil, "main_only": style = .winner
    case "all_docs": style = .leaves
    default: throw ServiceError.badQuery("`style` is `main_only` or `all_docs`")
    }
  }

  /// The query with the long lists of its selector sorted.
  /// - Throws: 503 when the request has ended.
  package func prepared() async throws -> ChangesQuery {
    guard case .selector(let selector) = filter else { return self }
    var query = self
    query.filter = .selector(try await selector.prepared())
    return query
  }

  /// The query for the rest of the same answer, after a page.
  package func after(_ page: ChangesPage) -> ChangesQuery {
    var next = self
    next.since = page.last
    next.limit = limit.map { max(0, $0 - page.rows.count) }
    next.end = page.end
    return next
  }

  /// The query for changes after a complete answer, as a feed asks after a wake-up.
  package func later(than page: ChangesPage) -> ChangesQuery {
    var next = after(page)
    next.end = nil
    return next
  }
}

/// The filter of `_changes`.
///
/// Source: CouchDB, "Changes feeds: filtering".
package enum ChangesFilter: Sendable {
  case everything
  /// `_doc_ids`: the changes of these documents.
  case documents(Set<DocumentID>)
  /// `_design`: design documents.
  case designs
  /// `_selector`: documents that a Mango selector matches.
  case selector(Selector)
  /// A function of a design document, which is not run.
  case function(DesignFunction)

  /// Reads `filter`; for `_doc_ids` the ids from the body or the query, for `_selector` the selector from the body.
  /// - Throws: 413 for more than ``CouchLimits/filteredDocuments`` ids; 400 when the ids or the selector are missing or
  ///   malformed, and for an unknown filter.
  init(_ parameters: CouchParameters, body: JSONNode?) throws {
    switch parameters["filter"] {
    case nil, "": self = .everything
    case "_design": self = .designs
    case "_doc_ids": self = .documents(try Self.ids(parameters, body))
    case "_selector": self = .selector(try Self.selector(body))
    case "_view":
      guard let view = parameters["view"], !view.isEmpty else {
        throw ServiceError.badRequest("`view` filter parameter is not provided.")
      }
      self = .function(try DesignFunction(.views, parameter: view))
    case let name? where name.utf8.first == UInt8(ascii: "_"):
      throw ServiceError.badRequest("unknown builtin filter name")
    case let name?: self = .function(try DesignFunction(.filters, parameter: name))
    }
  }

  /// Every error of a selector is a `bad_request` here, with texts of its own (CouchDB, `couch_changes`).
  private static func selector(_ body: JSONNode?) throws -> Selector {
    guard let body else {
      throw ServiceError.badRequest("Selector must be specified in POST payload")
    }
    guard let node = body["selector"], node.kind == .object else {
      throw ServiceError.badRequest("Selector error: expected a JSON object")
    }
    guard body["fields"].map({ $0.kind == .array }) ?? true else {
      throw ServiceError.badRequest("Selector error: fields must be JSON array")
    }
    do { return try Selector(node) } catch let error as ServiceError {
      throw ServiceError.badRequest(error.reason)
    }
  }

  private static func ids(
    _ parameters: CouchParameters, _ body: JSONNode?
  ) throws -> Set<DocumentID> {
    let given = try parameters.json("doc_ids")
    guard let ids = body?["doc_ids"] ?? given, ids.kind == .array else {
      throw ServiceError.badRequest("`doc_ids` filter parameter is not provided.")
    }
    var documents: Set<DocumentID> = []
    for (index, id) in ids.elements.enumerated() {
      guard index < CouchLimits.filteredDocuments else {
        throw ServiceError.tooLarge("`doc_ids` has at most \(CouchLimits.filteredDocuments) ids")
      }
      guard let text = id.string else {
        throw ServiceError.badRequest("`doc_ids` filter parameter is not a list of doc ids.")
      }
      documents.insert(DocumentID(stored: text))
    }
    return documents
  }
}
