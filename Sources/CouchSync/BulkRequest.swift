package import Documents

/// The documents of one `_bulk_docs`.
///
/// Source: CouchDB, "POST /{db}/_bulk_docs".
package struct BulkRequest: Sendable {
  /// One element of `docs`.
  enum Element: Sendable {
    /// A value that was read.
    case value(JSONNode)
    /// A document that breaks a limit on documents, and why.
    case refused(id: String?, CouchError)
  }

  /// The elements, in order.
  private(set) var elements: [Element]
  /// Whether revisions are made here; false for a peer's.
  let isNewEdit: Bool
  /// Whether `all_or_nothing` is asked for, which CouchDB gave up with version 2.
  let isAllOrNothing: Bool

  /// Takes a body that was read.
  /// - Throws: 400 for a body that is no request; 413 for too many documents.
  package init(_ body: JSONNode) throws(CouchError) {
    guard let documents = body["docs"] else {
      throw .badRequest("POST body must include `docs` parameter.")
    }
    guard documents.kind == .array else {
      throw .badRequest("`docs` parameter must be an array.")
    }
    try Self.check(count: documents.count)
    elements = documents.elements.map(Element.value)
    isNewEdit = try Self.isNewEdit(body)
    isAllOrNothing = isNewEdit && body["all_or_nothing"]?.bool ?? false
  }

  /// Reads a body. A document that breaks a limit on documents is refused alone: a replicator would otherwise send
  /// it with the same others again for ever.
  /// - Parameter limits: those of the database.
  /// - Throws: 400 and 413, as the other initializer and for what is no JSON or too long as a whole.
  package static func read(
    _ bytes: [UInt8], limits: DocumentLimits
  ) async throws(CouchError) -> BulkRequest {
    var reader = JSONReader(bytes, limits: limits.bulk)
    while true {
      let parsed: ParsedJSON?
      do { parsed = try reader.next() } catch {
        guard error.isOfOneValue else { throw CouchError(error) }
        return try await readApart(bytes, limits.document, error)
      }
      try await CouchError.givingWay()
      guard let root = parsed?.root else { continue }
      guard root.kind == .object else { throw CouchBody.noObject }
      return try BulkRequest(root)
    }
  }

  /// Reads each document of a body by itself.
  /// - Parameter fault: what is wrong with one of them.
  private static func readApart(
    _ bytes: [UInt8], _ limits: JSONLimits, _ fault: JSONError
  ) async throws(CouchError) -> BulkRequest {
    guard let outline = JSONOutline(bytes, in: bytes.indices),
      outline.isObject, let place = outline.value(named: "docs", in: bytes),
      let documents = JSONOutline(bytes, in: place), !documents.isObject
    else { throw CouchError(fault) }
    // What is left without the documents is to be a request.
    let rest = Array(bytes[..<place.lowerBound]) + Array("[]".utf8) + bytes[place.upperBound...]
    var request = try BulkRequest(CouchBody.object(rest))
    try check(count: documents.parts.count)
    for part in documents.parts {
      request.elements.append(try element(Array(bytes[part.value]), limits))
      try await CouchError.givingWay()
    }
    return request
  }

  private static func element(
    _ bytes: [UInt8], _ limits: JSONLimits
  ) throws(CouchError) -> Element {
    do { return .value(try ParsedJSON(bytes, limits: limits).root) } catch {
      // Bytes that are no UTF-8 are no JSON; an escape that stands for no character is one document's.
      guard error.isOfOneValue || error.code == .tooLarge,
        String(validating: bytes, as: UTF8.self) != nil
      else { throw CouchError(error) }
      let outline = JSONOutline(bytes, in: bytes.indices)
      let id = outline?.value(named: "_id", in: bytes).flatMap {
        try? ParsedJSON(Array(bytes[$0]), limits: .small).root.string
      }
      return .refused(id: id, CouchError(403, "forbidden", error.reason))
    }
  }

  private static func check(count: Int) throws(CouchError) {
    guard count <= CouchLimits.bulkDocuments else {
      throw .tooLarge("A request has at most \(CouchLimits.bulkDocuments) documents")
    }
  }

  private static func isNewEdit(_ body: JSONNode) throws(CouchError) -> Bool {
    guard let flag = body["new_edits"] else { return true }
    guard let value = flag.bool else {
      throw .badRequest("`new_edits` parameter must be a boolean.")
    }
    return value
  }
}
