package import Documents

/// A verb's answer, ready to be sent.
package struct CouchAnswer: Sendable {
  /// The HTTP status, 200 or 201.
  package let status: Int
  /// JSON.
  package let body: [UInt8]
  /// The revision that the answer is about, where it may stand for the body as an ETag.
  package let revision: RevisionID?
  /// The document that was made, for `Location`.
  package let made: DocumentID?

  /// An answer.
  package init(
    _ status: Int, _ body: [UInt8], revision: RevisionID? = nil, made: DocumentID? = nil
  ) {
    self.status = status
    self.body = body
    self.revision = revision
    self.made = made
  }

  /// An answer with status 200.
  package init(_ body: [UInt8]) { self.init(200, body) }

  /// `{"ok":true,"id":…,"rev":…}`: a document was written.
  static func written(
    _ status: Int, id: String, revision: String, entity: RevisionID? = nil
  ) -> CouchAnswer {
    var writer = JSONWriter(reserving: 128)
    appendWritten(id: id, revision: revision, to: &writer)
    return CouchAnswer(
      status, writer.bytes, revision: entity, made: status == 201 ? DocumentID(stored: id) : nil)
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
