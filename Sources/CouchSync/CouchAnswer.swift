package import Documents

/// The answer to a request, ready to be sent.
package struct CouchAnswer: Sendable {
  /// What became of a request.
  package enum Outcome: Sendable {
    /// It is answered, or something is changed or deleted.
    case done
    /// Something is written.
    case created
    /// The server does it by itself, later.
    case accepted
    /// Nothing is written, because `all_or_nothing` was requested.
    case refused
  }

  package let outcome: Outcome
  /// The JSON text, in pieces.
  package let pieces: [[UInt8]]
  /// The revision of the answer, when it can serve as an ETag of the body.
  package let revision: RevisionID?
  /// The id of the document that was written, which may be a local document.
  package let written: DocumentID?
  /// What follows the pieces; nil when they are the whole answer.
  package private(set) var rest: AnswerRest?
  /// Whether a replicated design document with `validate_doc_update`, which is not run, was stored.
  package var hasUnrunRules = false

  package init(
    _ outcome: Outcome, _ body: [UInt8], revision: RevisionID? = nil, written: DocumentID? = nil
  ) {
    (self.outcome, pieces, self.revision, self.written) = (outcome, [body], revision, written)
  }

  /// Makes an answer of several pieces, which may be long.
  init(_ outcome: Outcome, inPieces pieces: [[UInt8]], rest: AnswerRest? = nil) {
    (self.outcome, self.pieces, self.rest) = (outcome, pieces, rest)
    (revision, written) = (nil, nil)
  }

  /// The JSON in one piece.
  package var body: [UInt8] { pieces.count == 1 ? pieces[0] : pieces.reduce(into: [], +=) }

  /// An answer to a question.
  package init(_ body: [UInt8]) { self.init(.done, body) }

  /// Makes the answer to a written document: `{"ok":true,"id":…,"rev":…}`.
  static func written(
    _ outcome: Outcome, id: String, revision: String, entity: RevisionID? = nil
  ) -> CouchAnswer {
    var writer = JSONWriter(reserving: 128)
    appendWritten(id: id, revision: revision, to: &writer)
    return CouchAnswer(outcome, writer.bytes, revision: entity, written: DocumentID(stored: id))
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
