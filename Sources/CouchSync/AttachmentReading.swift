import Documents
import JSON
import Stores

/// Which attachments of a document an answer contains with their bytes.
///
/// Source: CouchDB, "GET /{db}/{docid}: attachments, atts_since".
package struct WantedAttachments: Sendable, Equatable {
  /// The revisions that the client has. Attachments that are older than the newest of them stay stubs.
  let since: [RevisionID]

  /// All of them.
  static let all = WantedAttachments(since: [])

  private init(since: [RevisionID]) { self.since = since }

  /// Reads `attachments` and `atts_since`; nil when neither asks for bytes.
  /// - Throws: 400.
  init?(_ parameters: CouchParameters) throws {
    let list = try parameters.json("atts_since")
    guard try parameters.flag("attachments") || list != nil else { return nil }
    guard let list else {
      since = []
      return
    }
    guard list.kind == .array else { throw Self.malformed }
    since = try list.elements.map { element in
      guard let text = element.string else { throw Self.malformed }
      return try RevisionID(text)
    }
  }

  private static let malformed = ServiceError.badRequest(
    "`atts_since` is a JSON array of revisions")

  /// The generation of the newest ancestor that the client has; 0 for none.
  func knownGeneration(in history: [RevisionID]) -> Int {
    since.isEmpty ? 0 : history.first { since.contains($0) }?.generation ?? 0
  }
}

/// The attachments of one revision, as an answer contains them.
struct AttachmentReader {
  /// How an answer contains the bytes.
  enum Form {
    /// In the document, in Base64.
    case data
    /// Behind the document, as parts of `multipart/related`.
    case follows
  }

  let id: DocumentID
  let revision: RevisionID
  /// Attachments up to this generation stay stubs.
  let knownGeneration: Int

  /// The most bytes of a document that are encoded in one step: 1 MiB. In lists of documents, attachments beyond it stay
  /// stubs. Elsewhere ``EncodedAttachments`` encode all of them before, in slices.
  private static let bytesAtOnce: Int64 = 1 << 20

  /// The attachments that a body names, with what is known of the bytes that the answer contains; nil for one that stays a
  /// stub.
  func wanted(
    _ stubs: [AttachmentStub], in view: any StoreView
  ) throws -> [(stub: AttachmentStub, facts: AttachmentFacts?)] {
    let keys = try view.attachmentKeys(of: id, revision)
    return try stubs.map { stub in
      guard stub.generation > knownGeneration, let key = keys[stub.name] else { return (stub, nil) }
      return (stub, try view.attachment(key))
    }
  }

  /// A body with the attachments in a form, and those that follow it. Attachments whose bytes are not here stay stubs.
  /// - Parameter encoded: what was encoded before.
  func body(
    _ body: [UInt8], as form: Form, _ encoded: EncodedAttachments, in view: any StoreView
  ) throws -> (bytes: [UInt8], following: [FoundAttachment]) {
    guard let (stubs, range) = DocumentBody.attachments(in: body) else { return (body, []) }
    var following: [FoundAttachment] = []
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("_attachments")
    writer.beginObject()
    var size: Int64 = 0
    for (stub, facts) in try wanted(stubs, in: view) {
      writer.name(stub.name.text)
      writer.beginObject()
      stub.appendMembers(to: &writer)
      var attachment = encoded.attachment(stub.name, of: revision)
      if form == .data, attachment == nil, let facts, facts.length <= Self.bytesAtOnce - size {
        size += facts.length
        attachment = EncodedAttachment(facts)
        while attachment?.isComplete == false { try attachment?.encodeNext(in: view) }
      }
      switch (form, facts) {
      case (.data, _) where attachment != nil:
        writer.member("data", raw: attachment?.text ?? [])
      case (.follows, let facts?):
        following.append(FoundAttachment(stub: stub, facts: facts))
        writer.member("length", Int(clamping: stub.length))
        writer.member("follows", true)
      case (.data, _), (_, nil):
        writer.member("length", Int(clamping: stub.length))
        writer.member("stub", true)
      }
      writer.endObject()
    }
    writer.endObject()
    writer.members(of: DocumentBody.rest(of: body, behind: range))
    writer.endObject()
    return (writer.bytes, following)
  }
}
