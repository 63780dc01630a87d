import CouchSync
import Documents
import HTTPTypes
import Hummingbird
import Stores

/// One document: normal, design or local.
///
/// Source: CouchDB, "API reference: documents" and "local documents".
struct CouchDocumentController: Sendable {
  let databases: CouchDatabaseAccess
  let address: ServerAddress
  /// The long answers.
  let feeds: Feeds

  var routes: [Route] {
    ["/{docid}", "/_design/{design}", "/_local/{local}"].flatMap { path in
      [
        databases.route(.get, path, read),
        databases.route(.put, path, put),
        databases.route(.delete, path, Self.delete),
        databases.route(.copy, path, copy),
      ]
    }
  }

  private func read(_ call: Call, _ store: CouchStore) async throws -> Response {
    let parameters = try call.couchParameters()
    switch try DocumentName(reading: call) {
    case .local(let id): return .couch(try await store.read { try await $0.local(id) })
    case .document(let id):
      let query = try DocumentQuery(parameters)
      if let wanted = try OpenRevisions.parameter(parameters) {
        return try await openRevisions(of: id, wanted, query, call, store)
      }
      if query.extras.attachments != nil, call.accepts("multipart/related") {
        return try await related(id, query, call, store)
      }
      let answer = try await store.read { try await $0.document(id, query) }
      if let revision = answer.revision?.description,
        // By the name that each person calls their own store by, a browser may know another person's document.
        try store.database.equalsBytes(of: call.parameter("db")),
        // A malformed field, without quotation marks, matches nothing.
        (try? EntityTags(call, .ifNoneMatch, strong: false))?.matches(revision) ?? false
      {
        var fields = Response.couchFields
        fields[.eTag] = "\"\(revision)\""
        return .empty(.notModified, headers: fields)
      }
      return try feeds.response(answer, call, store)
    }
  }

  /// Answers JSON, or `multipart/mixed` if the request accepts it, as CouchDB's replicator does. Who names another type of
  /// several parts and takes all types accepts it, too.
  private func openRevisions(
    of id: DocumentID, _ wanted: OpenRevisions, _ query: DocumentQuery, _ call: Call,
    _ store: CouchStore
  ) async throws -> Response {
    var (form, type) = (OpenRevisions.Form.json, "application/json")
    if call.accepts("multipart/mixed") || call.accepts("multipart/") && call.accepts("*/*") {
      (form, type) = OpenRevisions.Form.parts(of: "mixed")
    }
    let answer = try await store.read { [form] database in
      try await database.openRevisions(id, wanted, query, as: form)
    }
    return try feeds.response(answer, call, store, type: type)
  }

  /// Answers a document and the attachments that follow it.
  private func related(
    _ id: DocumentID, _ query: DocumentQuery, _ call: Call, _ store: CouchStore
  ) async throws -> Response {
    let text = try await store.read { database in
      try await database.multipartDocument(id, query, boundary: Multipart.boundary())
    }
    var fields = Response.couchFields
    fields[.contentType] = text.type
    let answer = AttachmentAnswer(text, from: store)
    return try feeds.response(
      answer, to: call, from: store, waits: false, length: Int(answer.count), fields)
  }

  private func put(_ call: Call, _ store: CouchStore) async throws -> Response {
    let parameters = try call.couchParameters()
    let boundary = call[.contentType].flatMap(MultipartReader.boundary)
    let answer: CouchAnswer
    do {
      switch try DocumentName(call) {
      case .document(let id): answer = try await put(id, boundary, parameters, call, store)
      case .local(let id):
        let body = try await call.couchDocument(store.documentLimits)
        let write = try LocalWrite(
          body, read: try await DocumentBody.readLong(body), limits: store.documentLimits)
        answer = try await store.write { try await $0.putLocal(id, write) }
      }
    } catch let error where boundary != nil && parameters.isFalse("new_edits") {
      // So CouchDB's replicator sends a document with attachments. It counts one that is forbidden as refused, and never
      // gets past one that is malformed or a conflict. A malformed body may be another one the next time.
      guard let known = ServiceError(error), known.code != .badRequest else { throw error }
      throw known.forReplication
    }
    answer.warnOfUnrunRules(call)
    return .couchWritten(answer, parameters, call, at: address.couchURL(for: call))
  }

  /// Writes a document, and the attachments that follow it in a body of several parts.
  private func put(
    _ id: DocumentID, _ boundary: String?, _ parameters: CouchParameters, _ call: Call,
    _ store: CouchStore
  ) async throws -> CouchAnswer {
    let base = try BaseRevision(query: parameters["rev"], ifMatch: call[.ifMatch])
    let isNewEdit = !parameters.isFalse("new_edits")
    func put(
      _ body: JSONNode, _ following: [AttachmentName: NewAttachment] = [:]
    ) async throws -> CouchAnswer {
      let body = try await store.sealed(body, as: id, isNewEdit: isNewEdit)
      return try await store.write {
        try await $0.put(id, body, base: base, isNewEdit: isNewEdit, following: following)
      }
    }
    guard let boundary else {
      return try await put(try await call.couchDocument(store.documentLimits))
    }
    var receiver = AttachmentReceiver(call, store)
    do {
      let sent = try await receiver.receiveRelated(boundary: boundary)
      let answer = try await put(sent.document, sent.following)
      await receiver.discard()
      return answer
    } catch {
      await receiver.discard()
      throw error
    }
  }

  private static func delete(_ call: Call, _ store: CouchStore) async throws -> Response {
    let parameters = try call.couchParameters()
    switch try DocumentName(reading: call) {
    case .local(let id):
      return .couch(
        try await store.write(creating: false) {
          try await $0.deleteLocal(id, revision: parameters["rev"])
        })
    case .document(let id):
      let base: BaseRevision
      do { base = try BaseRevision(query: parameters["rev"], ifMatch: call[.ifMatch]) } catch {
        // As in CouchDB an absent document is missing, whatever the revision.
        _ = try await store.read { try await $0.document(id) }
        throw error
      }
      return .couch(try await store.write(creating: false) { try await $0.delete(id, base: base) })
    }
  }

  private func copy(_ call: Call, _ store: CouchStore) async throws -> Response {
    let base = try BaseRevision(query: call.couchParameters()["rev"], ifMatch: call[.ifMatch])
    let (source, target) = (try DocumentName(reading: call), try CopyTarget(call))
    let answer = try await store.write(creating: false) { database in
      try await database.copy(source, revision: base.revision, to: target)
    }
    let url = address.couchURL(for: call)
    return .couch(answer, location: answer.location(in: call.arguments["db"] ?? "", at: url))
  }
}

extension CopyTarget {
  /// Reads the header `Destination`: a percent-encoded document id, in which `+` is a space, and optionally `?rev=` with its
  /// present revision.
  ///
  /// Source: CouchDB, "COPY /{db}/{docid}"; the id is relative to the database.
  /// - Throws: 400 `bad_request` for a missing header; 400 for a malformed one.
  init(_ call: Call) throws {
    guard let field = call[.destination] else {
      throw ServiceError.badRequest("Destination header is mandatory for COPY.")
    }
    let scheme = field.lowercased()
    guard !scheme.hasPrefix("http://"), !scheme.hasPrefix("https://") else {
      throw ServiceError.badRequest("Destination URL must be relative.")
    }
    let path = field.utf8.prefix { $0 != UInt8(ascii: "?") }
    let query = try Call.pairs(field.utf8.dropFirst(path.count + 1))
    try self.init(
      RequestTarget.decode(path, plusIsSpace: true, what: "Destination"),
      revision: CouchParameters(query)["rev"])
  }
}

extension DocumentName {
  /// Reads which document a path names: `{docid}`, `_design/{name}` or `_local/{local}`. The slash after `_design` and
  /// `_local` may be percent-encoded.
  /// - Throws: ``DocumentError`` with code `invalidID`; ``Problem`` 400 for a broken escape; 400 for `_local/` alone.
  init(_ call: Call) throws {
    if call.arguments["design"] != nil {
      try self.init("_design/" + call.parameter("design"))
    } else if call.arguments["local"] != nil {
      try self.init(LocalID.clientPrefix + call.parameter("local"))
    } else {
      let text = try call.parameter("docid")
      guard !text.equalsBytes(of: LocalID.clientPrefix) else {
        throw ServiceError.badRequest("Invalid _local document id.")
      }
      try self.init(text)
    }
  }

  /// Reads which document a path names that is only read or deleted. As in CouchDB it is missing if no document can have
  /// this name.
  /// - Throws: 404 `missing`; the other errors of ``init(_:)``.
  init(reading call: Call) throws {
    do { try self.init(call) } catch let error as DocumentError where error.code == .invalidID {
      throw ServiceError.missing
    }
  }
}
