package import Documents
import Stores

/// Documents with their attachments as parts of an answer.
///
/// Source: CouchDB, "GET /{db}/{docid}: efficient multiple attachments retrieving".
extension CouchDatabase {
  /// A document with the attachments that the query asks for.
  /// - Parameter boundary: that of the parts.
  /// - Throws: 404 `missing` or `deleted`.
  package func multipartDocument(
    _ id: DocumentID, _ query: DocumentQuery, boundary: String
  ) async throws -> RevisionText {
    try await store.read { view in
      let reader = try DocumentReader(id, in: view, extras: query.extras, needsTree: true)
      guard let reader else { throw DocumentError.missing }
      try query.checkWinner(isDeleted: reader.isDeleted)
      let asked = query.revision ?? reader.winningRevision
      let revision = query.latest ? reader.leaf(below: asked) ?? asked : asked
      guard let text = try reader.text(of: revision, as: .related(boundary: boundary), in: view)
      else { throw DocumentError.missing }
      return text
    }
  }
}

/// Answers one document with the bytes of its attachments.
struct AttachedDocumentReader: AnswerReader {
  private let id: DocumentID
  private let query: DocumentQuery
  private var reader: DocumentReader?
  private var isBegun = false
  var text = AnswerText()

  init(_ id: DocumentID, _ query: DocumentQuery) { (self.id, self.query) = (id, query) }

  mutating func release() { reader = nil }

  mutating func read(_ view: any StoreView) throws -> Bool {
    if !isBegun {
      var known = try reader?.renewed(in: view)
      if known == nil { known = try CouchDatabase.reader(id, query, in: view) }
      guard var reader = known else { throw DocumentError.missing }
      let isPrepared = try reader.prepare(CouchDatabase.target(of: query, by: reader), in: view)
      self.reader = reader
      guard isPrepared else { return false }
      text.begin(try CouchDatabase.text(by: reader, query, in: view))
      isBegun = true
    }
    return try text.finishValue(in: view)
  }
}
