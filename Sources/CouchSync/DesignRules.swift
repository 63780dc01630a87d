import Documents
import JSON
import Lanes
import Stores

/// The rules of design documents, `validate_doc_update`: they guard data elsewhere, and here nothing runs them. Who
/// writes one is told so; one that a peer's replication brings is stored, and its database says so ever after.
enum DesignRules {
  /// The member that holds a rule.
  static let member = "validate_doc_update"

  /// Whether a design document has a rule.
  static func isIn(_ document: JSONNode) -> Bool {
    document[member].map { !$0.isNull } ?? false
  }

  /// What a database says of a design document with a rule.
  static func warning(of id: DocumentID) -> String {
    "\(id.text): \(member) is stored, and nothing runs it"
  }

  /// The answer to who writes one.
  static let refusal = ServiceError(
    .forbidden,
    "validate_doc_update is not run here and would guard nothing: leave it out, or guard by _security"
  )
}

/// Looks in slices for the design documents of a database whose rules are not run.
struct DesignRulesReader: Sendable {
  /// How many are named at most.
  static let most = 100
  /// How many design documents are looked at.
  static let mostDesigns = 1_000

  private var range: DocumentRange? = AllDocumentsQuery.Scope.designs.part(
    of: DocumentRange())
  /// The ids of the documents that have rules, as far as they have been looked at.
  private(set) var ids: [DocumentID] = []

  private var looked = 0

  /// Goes on in a state of the store until the slice is over.
  /// - Returns: whether all are looked at.
  mutating func read(_ view: any StoreView) throws -> Bool {
    guard let walked = range else { return true }
    var rest: DocumentRange?
    try view.documents(walked) { document in
      if let root = try? ParsedJSON(document.body, limits: .stored).root, DesignRules.isIn(root) {
        ids.append(document.id)
      }
      looked += 1
      guard ids.count < Self.most, looked < Self.mostDesigns else { return false }
      guard Slice.isOver else { return true }
      rest = walked.behind(document.id.text)
      return false
    }
    range = rest
    return rest == nil
  }
}

/// A function in a design document that a client asks to be run. None is: whatever a client sends is data here.
package struct DesignFunction: Sendable {
  /// Which kinds there are, under CouchDB's names for the members that hold them.
  package enum Kind: String, Sendable {
    /// Chooses changes.
    case filters
    /// Makes rows out of documents.
    case views
    /// Makes an answer out of a document.
    case shows
    /// Makes an answer out of a view's rows.
    case lists
    /// Makes a revision out of a request.
    case updates
  }

  /// The design document.
  let design: DocumentID
  /// What it is to do.
  let kind: Kind
  /// Its name.
  let name: String

  /// A function by its names.
  /// - Throws: ``DocumentError`` with code `invalidID`.
  package init(_ kind: Kind, _ name: String, in design: String) throws {
    self.design = try DocumentID("_design/" + design)
    self.kind = kind
    self.name = name
  }

  /// Reads `design/name`, the value of a parameter of `_changes`.
  /// - Throws: 400 for another form.
  init(_ kind: Kind, parameter text: String) throws {
    let parts = text.utf8.split(separator: UInt8(ascii: "/"))
    guard parts.count == 2 else {
      let parameter = kind == .views ? "view" : "filter"
      throw ServiceError.badRequest(
        "`\(parameter)` must be of the form `designname/\(parameter)name`")
    }
    let (design, name) = (String(Substring(parts[0])), String(Substring(parts[1])))
    try self.init(kind, name, in: design)
  }

  /// Why the function is not run.
  /// - Parameter document: the design document's body; nil where there is none.
  func refusal(in document: JSONNode?) -> ServiceError {
    guard let document else { return .missing }
    guard let functions = document[kind.rawValue] else {
      return kind == .views ? Self.noView : Self.missing(kind.rawValue)
    }
    guard functions[name] != nil else { return kind == .views ? Self.noView : Self.missing(name) }
    return ServiceError(
      .notImplemented,
      "Functions of design documents are stored and replicated, not run: ask _find or a _selector")
  }

  private static let noView = ServiceError(.missing, "missing_named_view")

  private static func missing(_ key: String) -> ServiceError {
    ServiceError(.missing, "missing json key: \(key.prefix(64))")
  }
}

extension CouchDatabase {
  /// Says why a function is not run: it isn't there, or none ever is.
  /// - Throws: always; 404 `not_found`, 501 `not_implemented`.
  package func run(_ function: DesignFunction) async throws -> Never {
    let document = try await store.readInline { view in
      try view.document(function.design)
    }
    if document?.isDeleted ?? false { throw DocumentError.deleted }
    let root = document.flatMap { try? ParsedJSON($0.body, limits: .stored).root }
    throw function.refusal(in: root)
  }
}
