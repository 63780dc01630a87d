import CouchSync
import Documents
import HTTPTypes
import Hummingbird
import Stores

/// Attachments with addresses of their own.
///
/// Source: CouchDB, "API reference: attachments".
struct CouchAttachmentController: Sendable {
  let databases: CouchDatabaseAccess
  let address: ServerAddress
  /// The long answers.
  let feeds: Feeds

  var routes: [Route] {
    ["/{docid}/{attachment}", "/_design/{design}/{attachment}"].flatMap { path in
      [
        databases.route(.get, path, read).takingRest,
        databases.route(.put, path, put).takingRest,
        databases.route(.delete, path, delete).takingRest,
      ]
    }
  }

  private func read(_ call: Call, _ store: CouchStore) async throws -> Response {
    let revision = try call.couchParameters().revision("rev")
    let text = try call.parameter("attachment")
    guard (try? AttachmentName(text)) != nil else {
      // As in CouchDB a name that no attachment can have is missing, if its document is there.
      guard case .document(let id) = try DocumentName(call) else { throw ServiceError.missing }
      _ = try await store.read { try await $0.document(id, DocumentQuery(revision: revision)) }
      throw CouchAbsence.error(ofDesign: call.arguments["design"], text) ?? .noAttachment
    }
    let (id, name) = try Self.names(call)
    let bytesAtOnce = AttachmentResponse.bytesAtOnce(for: call)
    let (found, pieces) = try await store.read {
      try await $0.attachment(name, of: id, revision, withBytesUpTo: bytesAtOnce)
    }
    return try await AttachmentResponse(
      attachment: found, pieces: pieces, tag: Base64.string(found.facts.md5), store: store,
      feeds: feeds
    ).response(to: call, Response.attachmentFields)
  }

  private func put(_ call: Call, _ store: CouchStore) async throws -> Response {
    let (id, name) = try Self.names(call)
    let parameters = try call.couchParameters()
    let base = try BaseRevision(query: parameters["rev"], ifMatch: call[.ifMatch])
    let type = call[.contentType] ?? IncomingAttachment.standardType
    try IncomingAttachment.check(type: type)
    var receiver = AttachmentReceiver(call, store)
    do {
      let bytes = try await receiver.receiveBody()
      if let digest = call[.contentMD5], !digest.equalsBytes(of: Base64.string(bytes.facts.md5)) {
        throw ServiceError.digestMismatch
      }
      let sent = SentAttachment(name: name, contentType: type, bytes)
      let answer = try await store.write { try await $0.putAttachment(sent, to: id, base: base) }
      return .couchWritten(
        answer, parameters, call, at: address.couchURL(for: call), attachment: name)
    } catch {
      await receiver.discard()
      throw error
    }
  }

  private func delete(_ call: Call, _ store: CouchStore) async throws -> Response {
    let (id, name) = try Self.names(call)
    let base = try BaseRevision(query: call.couchParameters()["rev"], ifMatch: call[.ifMatch])
    return .couch(
      try await store.write(creating: false) {
        try await $0.deleteAttachment(name, of: id, base: base)
      })
  }

  /// The document and the attachment that a path names.
  /// - Throws: 400 for names that are not allowed; 404 for an attachment of a local document.
  private static func names(_ call: Call) throws -> (DocumentID, AttachmentName) {
    guard case .document(let id) = try DocumentName(call) else { throw ServiceError.missing }
    return (id, try AttachmentName(call.parameter("attachment")))
  }
}
