package import Documents
import Scheduling
import Stores

/// The documents of one `_bulk_docs`.
///
/// Source: CouchDB, "POST /{db}/_bulk_docs".
package struct BulkRequest: Sendable {
  /// One element of `docs`.
  enum Element: Sendable {
    case value(JSONNode)
    /// A document that exceeds a limit of documents, what it calls itself, and the error.
    case refused(id: String?, revision: String?, ServiceError)

    /// The element with another document; one that is refused stays as it is.
    func changed(by change: (JSONNode) async throws -> JSONNode) async throws -> Element {
      guard case .value(let node) = self else { return self }
      return .value(try await change(node))
    }
  }

  /// The elements, in order.
  private(set) var elements: [Element]
  /// Whether the revisions are made here; false for a peer's revisions.
  package let isNewEdit: Bool
  /// Whether `all_or_nothing` is requested, which CouchDB removed in version 2.
  let isAllOrNothing: Bool

  /// Makes a request from a parsed body.
  /// - Throws: 400 for a body that is not a request; 413 for too many documents.
  package init(_ body: JSONNode) throws {
    guard let documents = body["docs"] else {
      throw ServiceError.badRequest("POST body must include `docs` parameter.")
    }
    guard documents.kind == .array else {
      throw ServiceError.badRequest("`docs` parameter must be an array.")
    }
    try Self.check(count: documents.count)
    elements = documents.elements.map(Element.value)
    isNewEdit = try Self.isNewEdit(body)
    isAllOrNothing = isNewEdit && body["all_or_nothing"]?.bool ?? false
  }

  /// Changes each document.
  package mutating func change(_ change: (JSONNode) async throws -> JSONNode) async throws {
    for (index, element) in elements.enumerated() {
      elements[index] = try await element.changed(by: change)
    }
  }

  /// Parses a body. A document that exceeds a limit of documents is refused alone; otherwise a replicator would send it
  /// with the same other documents again and again.
  /// - Parameter limits: those of the database.
  /// - Throws: 400 and 413: the errors of the other initializer, and those for a body that is not JSON or is too long
  ///   as a whole.
  package static func read(_ bytes: [UInt8], limits: DocumentLimits) async throws -> BulkRequest {
    var reader = JSONReader(bytes, limits: limits.bulk)
    while true {
      let parsed: ParsedJSON?
      do { parsed = try reader.next() } catch {
        guard error.isOfOneValue else { throw error }
        return try await readApart(bytes, limits.document, error)
      }
      try await Slice.giveWay()
      guard let root = parsed?.root else { continue }
      guard root.kind == .object else { throw CouchBody.noObject }
      return try BulkRequest(root)
    }
  }

  /// Parses each document of a body separately.
  /// - Parameter fault: the error that was found in one of them.
  private static func readApart(
    _ bytes: [UInt8], _ limits: JSONLimits, _ fault: JSONError
  ) async throws -> BulkRequest {
    guard let outline = JSONOutline(bytes, in: bytes.indices),
      outline.isObject, let range = outline.value(named: "docs", in: bytes),
      let documents = JSONOutline(bytes, in: range), !documents.isObject
    else { throw ServiceError(fault) }
    // The rest of the body, without the documents, must be a request too.
    let rest = Array(bytes[..<range.lowerBound]) + Array("[]".utf8) + bytes[range.upperBound...]
    var request = try BulkRequest(CouchBody.object(rest))
    try check(count: documents.parts.count)
    for part in documents.parts {
      request.elements.append(try element(Array(bytes[part.value]), limits))
      try await Slice.giveWay()
    }
    return request
  }

  /// Parses one document.
  /// - Throws: 400 for a text that is not JSON.
  static func element(_ bytes: [UInt8], _ limits: JSONLimits) throws -> Element {
    do { return .value(try ParsedJSON(bytes, limits: limits).root) } catch {
      // Invalid UTF-8 is an error of the whole body; an escape that is not a character is an error of one document.
      guard error.isOfOneValue || error.code == .tooLarge,
        String(validating: bytes, as: UTF8.self) != nil
      else { throw ServiceError(error) }
      let outline = JSONOutline(bytes, in: bytes.indices)
      func string(_ name: String) -> String? {
        outline?.value(named: name, in: bytes).flatMap {
          try? ParsedJSON(Array(bytes[$0]), limits: .small).root.string
        }
      }
      return .refused(
        id: string("_id"), revision: string("_rev"), ServiceError(.forbidden, error.reason))
    }
  }

  /// - Throws: 413 for too many documents.
  package static func check(count: Int) throws {
    guard count <= CouchLimits.bulkDocuments else {
      throw ServiceError.tooLarge("A request has at most \(CouchLimits.bulkDocuments) documents")
    }
  }

  private static func isNewEdit(_ body: JSONNode) throws -> Bool {
    guard let flag = body["new_edits"] else { return true }
    guard let value = flag.bool else {
      throw ServiceError.badRequest("`new_edits` parameter must be a boolean.")
    }
    return value
  }
}
