import Documents
import Scheduling
import Stores

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
      guard kinds.contains(member.value.kind) else { throw unfit(name + "." + member.name, kinds) }
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
    let types = kinds.map(\.rawValue).joined(separator: " or ")
    return error("`\(path)` field must have \(types) type")
  }

  private static func error(_ reason: String) -> ServiceError {
    ServiceError(.invalidDesign, reason)
  }
}
