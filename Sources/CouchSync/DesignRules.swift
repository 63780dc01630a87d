import Documents
import JSON
import Lanes
import Stores

/// The rules of design documents, `validate_doc_update`. In CouchDB they protect data; here they are not run. A client
/// that writes one gets an error. One that a peer replicates is stored, and the database's information then contains a
/// warning.
enum DesignRules {
  static let member = "validate_doc_update"

  static func isIn(_ document: JSONNode) -> Bool {
    document[member].map { !$0.isNull } ?? false
  }

  static func warning(of id: DocumentID) -> String {
    "\(id.text): \(member) is stored but not run"
  }

  /// The error for a client that writes a rule.
  static let refusal = ServiceError(
    .forbidden,
    "validate_doc_update is not run here and would protect nothing: leave it out, or use _security"
  )
}

/// The form of design documents. As in CouchDB, a client that writes one of another form gets an error. One that a peer
/// replicates is stored as it is, so that no peer loses a document.
///
/// Source: `couch_mrview:validate_ddoc_fields`.
enum DesignForm {
  private static let functions: [JSONNode.Kind] = [.object, .string]

  /// Checks, in slices, the members that CouchDB knows. Other members may be anything.
  /// - Throws: 400 `invalid_design_doc`; `WorkEnded`.
  static func check(_ document: JSONNode) async throws {
    try await checkEach("filters", functions, in: document)
    try check("language", [.string], in: document)
    try await checkEach("lists", functions, in: document)
    if let options = try check("options", [.object], in: document) {
      for name in ["include_design", "local_seq", "partitioned"] {
        try check(name, [.bool], in: options, at: "options.")
      }
    }
    try check("rewrites", [.string, .array], in: document)
    try await checkEach("shows", functions, in: document)
    try await checkEach("updates", functions, in: document)
    let isQuery = document["language"]?.stringEquals("query") ?? false
    try await checkEach("views", [.object], in: document) { name, view in
      let path = "views.\(name)."
      let map = try check("map", [isQuery ? .object : .string], in: view, at: path)
      try check("reduce", [.string], in: view, at: path)
      guard map != nil || name == "lib" else {
        throw error("View `\(name)` must contain map function")
      }
    }
  }

  /// The error of a client's element of `_bulk_docs`; nil if it is no design document, or has the form of one.
  /// - Throws: `WorkEnded`.
  static func fault(
    of element: BulkRequest.Element, written entry: BulkEntry
  ) async throws -> ServiceError? {
    guard case .value(let node) = element, case .success(.document(let write)) = entry.write,
      write.id.isDesign, !write.isDeleted
    else { return nil }
    do { try await check(node) } catch let error as ServiceError { return error }
    return nil
  }

  /// Checks a member that is an object of such values.
  /// - Parameter visit: receives the name and the value of each.
  private static func checkEach(
    _ name: String, _ kinds: [JSONNode.Kind], in document: JSONNode,
    _ visit: (String, JSONNode) throws -> Void = { _, _ in }
  ) async throws {
    guard let object = try check(name, [.object], in: document) else { return }
    for member in object.members {
      guard kinds.contains(member.value.kind) else {
        throw unfit(name + "." + member.name, kinds)
      }
      try visit(member.name, member.value)
      try await Slice.giveWay()
    }
  }

  /// - Returns: the member; nil if it is absent.
  @discardableResult
  private static func check(
    _ name: String, _ kinds: [JSONNode.Kind], in object: JSONNode, at path: String = ""
  ) throws -> JSONNode? {
    guard let member = object[name] else { return nil }
    guard kinds.contains(member.kind) else { throw unfit(path + name, kinds) }
    return member
  }

  private static func unfit(_ path: String, _ kinds: [JSONNode.Kind]) -> ServiceError {
    let types = kinds.map { $0 == .bool ? "boolean" : "\($0)" }.joined(separator: " or ")
    return error("`\(path)` field must have \(types) type")
  }

  private static func error(_ reason: String) -> ServiceError {
    ServiceError(.invalidDesign, reason)
  }
}

/// Finds, in slices, the design documents of a database that have rules.
struct DesignRulesReader: Sendable {
  /// The most documents that are named.
  static let most = 100
  /// The most design documents that are examined.
  static let mostDesigns = 1_000

  private var range: DocumentRange? = AllDocumentsQuery.Scope.designs.part(
    of: DocumentRange())
  /// The ids of the documents with rules that were found so far.
  private(set) var ids: [DocumentID] = []

  private var looked = 0

  /// Continues with a snapshot of the store until the slice is over.
  /// - Returns: whether all design documents have been examined, or one of the limits is reached.
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

/// A function in a design document that a client asks for. None is run: a function that a client sends is only stored.
package struct DesignFunction: Sendable {
  /// The kinds of functions, under CouchDB's names for the members that contain them.
  package enum Kind: String, Sendable {
    /// Selects changes.
    case filters
    /// Makes rows from documents.
    case views
    /// Makes an answer from a document.
    case shows
    /// Makes an answer from a view's rows.
    case lists
    /// Makes a revision from a request.
    case updates
  }

  let design: DocumentID
  let kind: Kind
  let name: String

  /// Makes a function from its names.
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

  /// The error that says why the function is not run.
  /// - Parameter document: the body of the design document; nil when there is none.
  func refusal(in document: JSONNode?) -> ServiceError {
    guard let document else { return .missing }
    guard let functions = document[kind.rawValue] else {
      return kind == .views ? Self.noView : Self.missing(kind.rawValue)
    }
    guard functions[name] != nil else { return kind == .views ? Self.noView : Self.missing(name) }
    return ServiceError(
      .notImplemented,
      "Functions of design documents are stored and replicated, not run: use _find or a _selector")
  }

  private static let noView = ServiceError(.missing, "missing_named_view")

  private static func missing(_ key: String) -> ServiceError {
    ServiceError(.missing, "missing json key: \(key.prefix(64))")
  }
}

extension CouchDatabase {
  /// Throws the error that says why a function is not run: it does not exist, or functions are not supported.
  /// - Throws: always: 404 `not_found` or 501 `not_implemented`.
  package func run(_ function: DesignFunction) async throws -> Never {
    let document = try await store.readInline { view in
      try view.document(function.design)
    }
    if document?.isDeleted ?? false { throw DocumentError.deleted }
    let root = document.flatMap { try? ParsedJSON($0.body, limits: .stored).root }
    throw function.refusal(in: root)
  }
}
