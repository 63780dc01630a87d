package import Documents
package import Stores

extension CouchDatabase {
  /// `GET /{db}/{docid}`: the winner, or the requested revision, which may be a tombstone.
  ///
  /// Source: CouchDB, "GET /{db}/{docid}".
  /// - Returns: the document, with its revision as an ETag only when no extras were requested, because extras change
  ///   while the revision stays the same.
  /// - Throws: 404 `missing` or `deleted`.
  package func document(
    _ id: DocumentID, _ query: DocumentQuery = DocumentQuery()
  ) async throws -> CouchAnswer {
    if query.extras.attachments != nil {
      return try await answer(by: AttachedDocumentReader(id, query))
    }
    guard query.extras.isEmpty else { return try await documentInSlices(id, query) }
    return try await store.readInline { view in
      guard let reader = try Self.reader(id, query, in: view) else { throw DocumentError.missing }
      return try Self.answer(by: reader, query, in: view)
    }
  }

  /// Reads in slices, because extras may need the bodies of many revisions.
  private func documentInSlices(
    _ id: DocumentID, _ query: DocumentQuery
  ) async throws -> CouchAnswer {
    try await store.read(inSlices: DocumentReader?.none) { progress, view in
      var known = try progress?.renewed(in: view)
      if known == nil { known = try Self.reader(id, query, in: view) }
      guard var reader = known else { throw DocumentError.missing }
      let revision = Self.target(of: query, by: reader)
      let isPrepared = try reader.prepare(revision, in: view)
      progress = reader
      return isPrepared ? try Self.answer(by: reader, query, in: view) : nil
    }
  }

  static func reader(
    _ id: DocumentID, _ query: DocumentQuery, in view: any StoreView
  ) throws -> DocumentReader? {
    try DocumentReader(id, in: view, extras: query.extras, needsTree: query.revision != nil)
  }

  static func target(of query: DocumentQuery, by reader: DocumentReader) -> RevisionID {
    guard let revision = query.revision else { return reader.winningRevision }
    return query.latest ? reader.leaf(below: revision) ?? revision : revision
  }

  private static func answer(
    by reader: DocumentReader, _ query: DocumentQuery, in view: any StoreView
  ) throws -> CouchAnswer {
    let bytes = try text(by: reader, query, in: view).bytes
    return CouchAnswer(
      .done, bytes, revision: query.extras.isEmpty ? target(of: query, by: reader) : nil)
  }

  /// The revision that a query asks for.
  /// - Throws: 404 `missing` or `deleted`.
  static func text(
    by reader: DocumentReader, _ query: DocumentQuery, in view: any StoreView
  ) throws -> RevisionText {
    try query.checkWinner(isDeleted: reader.isDeleted)
    let revision = target(of: query, by: reader)
    guard let text = try reader.text(of: revision, as: .json, in: view) else {
      throw DocumentError.missing
    }
    return text
  }

  /// `PUT /{db}/{docid}`: writes a document under the id of the path, whatever its own `_id` says.
  ///
  /// Source: CouchDB, "PUT /{db}/{docid}".
  /// - Parameter isNewEdit: false for `new_edits=false`: the revision was made elsewhere.
  /// - Parameter following: the attachments whose bytes followed the document.
  /// - Returns: 201, or 200 for a tombstone, with id and revision.
  /// - Throws: 409 `conflict`; 400 for a document that contradicts itself or the request; 413; 415.
  package func put(
    _ id: DocumentID, _ body: JSONNode, base: BaseRevision = .none, isNewEdit: Bool = true,
    following: [AttachmentName: NewAttachment] = [:]
  ) async throws -> CouchAnswer {
    let document = try await Self.document(in: body)
    let base = try base.reconcile(with: document.revision)
    let hasRules = try await Self.hasRules(document, body, id, isNewEdit: isNewEdit)
    let write: DocumentWrite
    do {
      write = try await DocumentWrite(
        document, id: id, base: base, isNewEdit: isNewEdit, limits: documentLimits
      ).received(attachmentBytes, following: following)
    } catch {
      if !isNewEdit, let error = ServiceError(error) {
        await keepRefusal(of: id.text, document.revision?.description, error)
      }
      throw error
    }
    var answer = try await self.write(write)
    answer.hasUnrunRules = hasRules
    return answer
  }

  /// `POST /{db}`: writes a document, which may be a local one, under its `_id`, or under a new id when it has none.
  ///
  /// Source: CouchDB, "POST /{db}".
  /// - Returns: 201 with id and revision.
  /// - Throws: the same errors as ``put(_:_:base:isNewEdit:)``.
  package func post(_ body: JSONNode) async throws -> CouchAnswer {
    if let id = try LocalID(of: body) {
      return try await putLocal(
        id, LocalWrite(body, read: try await DocumentBody.readLong(body), limits: documentLimits))
    }
    let document = try await Self.document(in: body)
    let id = document.id ?? .untitled()
    _ = try await Self.hasRules(document, body, id, isNewEdit: true)
    let write = try await DocumentWrite(
      document, id: id, base: nil, isNewEdit: true, limits: documentLimits
    ).received(attachmentBytes)
    let answer = try await self.write(write)
    return CouchAnswer(.created, answer.body, revision: answer.revision, written: id)
  }

  private func write(_ write: DocumentWrite) async throws -> CouchAnswer {
    let (store, id) = (store, write.id)
    let revision: RevisionID?
    do {
      revision = try await updating([id], isReplicated: write.isReplicated) { changes in
        try write.record(in: &changes, limit: store.historyLimits(in: changes.view))
      }
    } catch {
      if write.isReplicated, let error = ServiceError(error) {
        await keep([RefusedWrite(write: write, error: error)])
      }
      throw error
    }
    return .written(
      write.isDeleted ? .done : .created, id: id.text, revision: revision?.description ?? "",
      entity: revision)
  }

  /// Whether the document is a design document with `validate_doc_update`, which is not run.
  /// - Throws: 403 `forbidden` for such a document when it is a new edit; 400 for one of another form (``DesignForm``).
  private static func hasRules(
    _ document: IncomingDocument, _ body: JSONNode, _ id: DocumentID, isNewEdit: Bool
  ) async throws -> Bool {
    guard id.isDesign, !document.isDeleted else { return false }
    if isNewEdit { try await DesignForm.check(body) }
    guard DesignRules.isIn(body) else { return false }
    guard !isNewEdit else { throw DesignRules.refusal }
    return true
  }

  private static func document(in body: JSONNode) async throws -> IncomingDocument {
    guard body.kind == .object else {
      throw ServiceError.badRequest("Document must be a JSON object")
    }
    return try IncomingDocument(body, read: try await DocumentBody.readLong(body))
  }

  /// `DELETE /{db}/{docid}`: adds an empty tombstone to the document.
  ///
  /// Source: CouchDB, "DELETE /{db}/{docid}".
  /// - Returns: 200 with id and the tombstone's revision.
  /// - Throws: 404 `missing` or `deleted`; 409 `conflict`, also when no revision is given.
  package func delete(_ id: DocumentID, base: BaseRevision) async throws -> CouchAnswer {
    let store = store
    let revision = try await updating([id]) { changes in
      changes.historyLimits = try store.historyLimits(in: changes.view)
      return try changes.delete(id, base: base.revision)
    }
    return .written(.done, id: id.text, revision: revision.description, entity: revision)
  }

  /// `COPY /{db}/{docid}`: writes the body of one document under another id, in one transaction. Either may be local. As in
  /// CouchDB the copy of a tombstone is a tombstone.
  ///
  /// Source: CouchDB, "COPY /{db}/{docid}".
  /// - Parameter revision: the revision to copy; nil for the winner. It is ignored for a local document.
  /// - Returns: 201 with the target's id and revision.
  /// - Throws: 404 `missing` or `deleted` for the source; 409 `conflict` for the target.
  package func copy(
    _ source: DocumentName, revision: RevisionID? = nil, to target: CopyTarget
  ) async throws -> CouchAnswer {
    let store = store
    switch target {
    case .local(let id, let base):
      let copy = try await updating { changes in
        let content = try Self.content(of: source, revision, in: changes.view)
        let copy =
          try content.isDeleted
          ? nil : LocalDocument(revision: (base ?? 0) &+ 1, body: content.body.with([]).bytes)
        changes.write(LocalEdit(id, copy))
        return copy
      }
      return .written(.created, local: id, copy)
    case .document(let id, let base):
      let written = try await updating([id]) { changes in
        let view = changes.view
        let content = try Self.content(of: source, revision, in: view)
        if id.isDesign, !content.isDeleted,
          let root = try? ParsedJSON(content.body.bytes, limits: .stored).root,
          DesignRules.isIn(root)
        {
          throw DesignRules.refusal
        }
        let limit = try store.historyLimits(in: view)
        let tree = try view.newest(id)
        let former = try view.former(id, tree)
        var edits = DocumentEdits(id, in: tree, after: former, limit: limit)
        let written = try edits.write(
          base: base, body: content.body.copied(in: edits.generation(after: base)),
          isDeleted: content.isDeleted)
        changes.write(edits.finish())
        let attached = content.attachments.mapValues { AttachmentContent.stored($0) }
        try changes.attach(attached, to: AttachedRevision(id: id, revision: written))
        return written
      }
      return .written(.created, id: id.text, revision: written.description, entity: written)
    }
  }

  /// What is copied.
  private struct CopiedContent {
    let body: DocumentBody
    var isDeleted = false
    var attachments: [AttachmentName: AttachmentKey] = [:]
  }

  private static func content(
    of source: DocumentName, _ revision: RevisionID?, in view: any StoreView
  ) throws -> CopiedContent {
    switch source {
    case .local(let id):
      guard let document = try view.local(id) else { throw DocumentError.missing }
      return CopiedContent(body: DocumentBody(readingBack: document.body))
    case .document(let id):
      guard let document = try view.document(id) else { throw DocumentError.missing }
      var (bytes, isDeleted) = (document.body, document.isDeleted)
      if let revision {
        guard let node = try view.tree(id)?[revision], let kept = try view.body(id, revision) else {
          throw DocumentError.missing
        }
        (bytes, isDeleted) = (kept, node.isDeleted)
      } else if isDeleted {
        throw DocumentError.deleted
      }
      return CopiedContent(
        body: try DocumentBody(parsing: bytes, limits: .stored), isDeleted: isDeleted,
        attachments: try view.attachmentKeys(of: id, revision ?? document.revision))
    }
  }
}

extension DocumentBody {
  /// The body for another document, in which its attachments begin with this generation.
  fileprivate func copied(in generation: Int) throws -> DocumentBody {
    let stubs = attachments
    return try stubs.isEmpty
      ? self
      : with(
        stubs.map { stub in
          AttachmentStub(
            name: stub.name, contentType: stub.contentType, generation: generation,
            digest: stub.digest, length: stub.length)
        })
  }
}

extension CouchDatabase {
  /// `POST /{db}/_revs_diff`: which of a peer's revisions are unknown here. Documents without unknown revisions are
  /// left out.
  ///
  /// Source: CouchDB, "POST /{db}/_revs_diff".
  package func revisionsDifference(_ request: RevisionsRequest) async throws -> CouchAnswer {
    let all = try await missing(request)
    return CouchAnswer(
      JSONWriter.object { writer in
        for missing in all {
          writer.object(missing.id) { writer in
            writer.array("missing", of: missing.revisions) { $1.string($0.text) }
            if !missing.possibleAncestors.isEmpty {
              writer.array("possible_ancestors", of: missing.possibleAncestors) { $1.revision($0) }
            }
          }
        }
      })
  }

  /// `POST /{db}/_missing_revs`: the same as `_revs_diff`, without possible ancestors.
  ///
  /// Source: CouchDB, "POST /{db}/_missing_revs".
  package func missingRevisions(_ request: RevisionsRequest) async throws -> CouchAnswer {
    let all = try await missing(request)
    return CouchAnswer(
      JSONWriter.object { writer in
        writer.object("missing_revs") { writer in
          for missing in all {
            writer.array(missing.id, of: missing.revisions) { $1.string($0.text) }
          }
        }
      })
  }

  private func missing(_ request: RevisionsRequest) async throws -> [MissingRevisions] {
    try await store.read(inSlices: MissingRevisionsReader(request)) {
      reader, view in try reader.read(view) ? reader.missing.all : nil
    }
  }

  /// `POST /{db}/_bulk_get`: many revisions at once, tombstones included; without `rev` every leaf.
  ///
  /// CouchDB's replicator expects one result for each requested element, in order. Each entry of a result's `docs` has
  /// exactly one key, `ok` or `error`.
  /// Source: CouchDB, "POST /{db}/_bulk_get".
  /// - Throws: 503 when there is no memory for a part of the answer.
  package func bulkGet(_ request: BulkGetRequest) async throws -> CouchAnswer {
    try await answer(by: BulkGetReader(request, word))
  }

  /// `GET /{db}/{docid}?open_revs=…`: several revisions of one document at once, in the order of the request; all
  /// leaves from the lowest revision id on.
  ///
  /// Source: CouchDB, "GET /{db}/{docid}: open_revs".
  /// - Throws: 404 `missing` when all leaves of an id that was never used are requested; 413 for more than
  ///   ``CouchLimits/askedRevisions`` revisions; 503 when there is no memory for a part of the answer.
  package func openRevisions(
    _ id: DocumentID, _ wanted: OpenRevisions, _ query: DocumentQuery,
    as form: OpenRevisions.Form = .json
  ) async throws -> CouchAnswer {
    if case .these(let revisions) = wanted, revisions.count > CouchLimits.askedRevisions {
      throw ServiceError.tooLarge("A request has at most \(CouchLimits.askedRevisions) revisions")
    }
    return try await answer(by: OpenRevisionsReader(id, wanted, query, as: form))
  }
}
