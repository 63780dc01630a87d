package import Documents
package import JSON
package import Stores

/// A verb's answer, ready to be sent.
package struct CouchAnswer: Sendable {
  /// The HTTP status, 200 to 202, or 417 where none of several documents is written.
  package let status: Int
  /// JSON, in pieces.
  package let pieces: [[UInt8]]
  /// The revision that the answer is about, where it may stand for the body as an ETag.
  package let revision: RevisionID?
  /// The document that was written, which may be a local one.
  package let written: DocumentID?
  /// Whether a peer's design document was taken whose rules nothing runs.
  package var hasUnrunRules = false

  /// An answer.
  package init(
    _ status: Int, _ body: [UInt8], revision: RevisionID? = nil, written: DocumentID? = nil
  ) {
    self.status = status
    pieces = [body]
    self.revision = revision
    self.written = written
  }

  /// An answer that may be long.
  init(_ status: Int, inPieces pieces: [[UInt8]]) {
    self.status = status
    self.pieces = pieces
    revision = nil
    written = nil
  }

  /// The JSON in one piece.
  package var body: [UInt8] { pieces.count == 1 ? pieces[0] : Array(pieces.joined()) }

  /// An answer with status 200.
  package init(_ body: [UInt8]) { self.init(200, body) }

  /// `{"ok":true,"id":…,"rev":…}`: a document was written.
  static func written(
    _ status: Int, id: String, revision: String, entity: RevisionID? = nil
  ) -> CouchAnswer {
    var writer = JSONWriter(reserving: 128)
    appendWritten(id: id, revision: revision, to: &writer)
    return CouchAnswer(
      status, writer.bytes, revision: entity, written: DocumentID(stored: id))
  }

  /// Writes `{"ok":true,"id":…,"rev":…}`.
  static func appendWritten(id: String, revision: String, to writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("ok", true)
    writer.member("id", id)
    writer.member("rev", revision)
    writer.endObject()
  }
}

/// Reads requests' bodies.
package enum CouchBody {
  /// Parses a body.
  /// - Throws: 400 or 413, as ``ServiceError/init(_:)-(JSONError)`` says.
  package static func parse(
    _ bytes: [UInt8], limits: JSONLimits
  ) throws -> JSONNode {
    return try ParsedJSON(bytes, limits: limits).root
  }

  /// Parses a body that is to be an object.
  /// - Throws: besides, 400 `bad_request` for any other value.
  package static func object(
    _ bytes: [UInt8], limits: JSONLimits = CouchLimits.bulk
  ) throws -> JSONNode {
    let node = try parse(bytes, limits: limits)
    guard node.kind == .object else { throw noObject }
    return node
  }

  /// The error of a body that is no object.
  package static let noObject = ServiceError.badRequest("Request body must be a JSON object")

  /// The elements of a body's array.
  /// - Throws: 400 `bad_request` when there is none; 413 when it has more than
  ///   ``CouchLimits/bulkDocuments``.
  static func documents(in body: JSONNode) throws -> JSONElements {
    guard let documents = body["docs"], documents.kind == .array else {
      throw ServiceError.badRequest("Missing JSON list of 'docs'.")
    }
    guard documents.count <= CouchLimits.bulkDocuments else {
      throw ServiceError.tooLarge("A request has at most \(CouchLimits.bulkDocuments) documents")
    }
    return documents.elements
  }
}
