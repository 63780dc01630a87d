package import Documents
package import Stores

/// Attachments with addresses of their own.
///
/// Source: CouchDB, "Attachments: /{db}/{docid}/{attname}".
extension CouchDatabase {
  /// The most bytes of one attachment.
  package var attachmentBytes: Int { store.quota.attachmentBytes }

  /// `GET /{db}/{docid}/{attname}`: what is known of an attachment of the winner, or of the requested revision.
  /// - Parameter limit: the bytes of an attachment that has at most so many are read together with that.
  /// - Returns: also the pieces of its bytes; nil for a longer one.
  /// - Throws: 404 `missing` or `deleted`.
  package func attachment(
    _ name: AttachmentName, of id: DocumentID, _ revision: RevisionID?, withBytesUpTo limit: Int64
  ) async throws -> (found: FoundAttachment, pieces: [[UInt8]]?) {
    try await store.readInline { view in
      guard let document = try view.document(id) else { throw DocumentError.missing }
      guard revision != nil || !document.isDeleted else { throw DocumentError.deleted }
      let wanted = revision ?? document.revision
      let body = wanted == document.revision ? document.body : try view.body(id, wanted)
      guard let body else { throw DocumentError.missing }
      let stub = DocumentBody.attachments(in: body)?.stubs.first { $0.name == name }
      guard let stub, let key = try view.attachmentKeys(of: id, wanted)[name],
        let facts = try view.attachment(key)
      else { throw ServiceError.noAttachment }
      let isShort = facts.length <= limit
      return (
        FoundAttachment(stub: stub, facts: facts),
        isShort ? try view.pieces(0..<facts.length, of: facts) : nil
      )
    }
  }

  /// Some bytes of an attachment, from an offset to at most the end of a range, in pieces.
  /// - Parameter limit: no further piece is read when there are this many bytes.
  /// - Throws: 500 when they are gone, because the attachment was removed while it was read.
  package func bytes(
    _ range: Range<Int64>, of attachment: AttachmentFacts, enough limit: Int64 = 1
  ) async throws -> [[UInt8]] {
    try await store.readInline { view in try view.pieces(range, of: attachment, enough: limit) }
  }

  /// Writes the part of an attachment that has arrived.
  /// - Throws: 507 `quota_exceeded`.
  package func write(_ upload: inout AttachmentUpload, isLast: Bool = false) async throws {
    try await store.write(&upload, isLast: isLast, as: context)
  }

  /// Removes what was written of an attachment that is not used.
  package func discard(_ upload: AttachmentUpload) async { await store.discard(upload) }

  /// `PUT /{db}/{docid}/{attname}`: adds a revision that has this attachment, or another one of this name. An absent
  /// document is created.
  /// - Returns: 201 with id and revision.
  /// - Throws: 409 `conflict`, or `not_found` for a revision that is not here.
  package func putAttachment(
    _ sent: SentAttachment, to id: DocumentID, base: BaseRevision
  ) async throws -> CouchAnswer {
    guard let bytes = sent.bytes else { throw DocumentError.missing }
    let answer = try await edit(id, base: base) { stubs, generation in
      let stub = AttachmentStub(
        name: sent.name, contentType: sent.contentType ?? IncomingAttachment.standardType,
        generation: generation, digest: bytes.facts.digest, length: bytes.facts.length)
      let index = stubs.firstIndex { $0.name == sent.name }
      if let index { stubs[index] = stub } else { stubs.append(stub) }
      guard stubs.count <= IncomingAttachment.most else {
        throw DocumentError(
          .invalidAttachment, "A document has at most \(IncomingAttachment.most) attachments")
      }
      return [sent.name: bytes.content]
    }
    return .written(.created, id: id.text, revision: answer.description)
  }

  /// `DELETE /{db}/{docid}/{attname}`: adds a revision without the attachment.
  /// - Returns: 200 with id and revision.
  /// - Throws: 404 `missing` or `deleted`, also for the attachment; 409 `conflict`, or `not_found` for a revision that is
  ///   not here.
  package func deleteAttachment(
    _ name: AttachmentName, of id: DocumentID, base: BaseRevision
  ) async throws -> CouchAnswer {
    let answer = try await edit(id, base: base, isCreating: false) { stubs, _ in
      guard let index = stubs.firstIndex(where: { $0.name == name }) else {
        throw ServiceError.noAttachment
      }
      stubs.remove(at: index)
      return [:]
    }
    return .written(.done, id: id.text, revision: answer.description)
  }

  /// Adds a revision that differs from `base` in its attachments only. As in CouchDB the attachment is looked for before it
  /// counts whether `base` is a leaf.
  /// - Parameter change: changes the attachments of a revision with a generation.
  private func edit(
    _ id: DocumentID, base: BaseRevision, isCreating: Bool = true,
    _ change:
      @escaping @Sendable (_ stubs: inout [AttachmentStub], _ generation: Int) throws ->
      [AttachmentName: AttachmentContent]
  ) async throws -> RevisionID {
    let (store, base) = (store, base.revision)
    return try await updating([id]) { changes in
      let view = changes.view
      let limit = try store.historyLimits(in: view)
      let tree = try view.newest(id)
      var body = DocumentBody.empty
      if let base {
        guard let bytes = try view.body(id, base) else { throw ServiceError.missingRevision }
        body = try DocumentBody(parsing: bytes, limits: .stored)
      } else if !isCreating {
        guard let document = try view.document(id) else { throw DocumentError.missing }
        guard !document.isDeleted else { throw DocumentError.deleted }
        body = try DocumentBody(parsing: document.body, limits: .stored)
      }
      var edits = DocumentEdits(id, in: tree, after: try view.former(id, tree), limit: limit)
      var stubs = body.attachments
      let contents = try change(&stubs, edits.generation(after: base))
      let isWritable = base.map { tree?[$0]?.isLeaf ?? false } ?? (tree?.winner?.isDeleted ?? true)
      guard isWritable else { throw DocumentError.conflict }
      let revision = try edits.write(base: base, body: body.with(stubs), isDeleted: false)
      changes.write(edits.finish())
      try changes.attach(contents, to: AttachedRevision(id: id, revision: revision))
      return revision
    }
  }
}
