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

  /// A body with the attachments in a form, and those that follow it. Attachments whose bytes are not here stay stubs.
  /// - Throws: 413 when the bytes in the document are too many for an answer that is built in memory.
  func body(
    _ body: [UInt8], as form: Form, in view: any StoreView
  ) throws -> (bytes: [UInt8], following: [FoundAttachment]) {
    guard let (stubs, range) = DocumentBody.attachments(in: body) else { return (body, []) }
    let keys = try view.attachmentKeys(of: id, revision)
    var following: [FoundAttachment] = []
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("_attachments")
    writer.beginObject()
    var size: Int64 = 0
    for stub in stubs {
      writer.name(stub.name.text)
      writer.beginObject()
      stub.appendMembers(to: &writer)
      let facts =
        stub.generation > knownGeneration
        ? try keys[stub.name].flatMap { try view.attachment($0) } : nil
      switch (form, facts) {
      case (.data, let facts?):
        size += facts.length
        guard size <= CouchLimits.answerBytes / 2 else { throw Self.tooLong }
        writer.member("data", raw: try Self.base64(facts, in: view))
      case (.follows, let facts?):
        following.append(FoundAttachment(stub: stub, facts: facts))
        writer.member("length", Int(clamping: stub.length))
        writer.member("follows", true)
      case (_, nil):
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

  private static let tooLong = ServiceError.tooLarge(
    "The attachments are too long for one answer in JSON: read them one by one, or ask for "
      + "multipart/related")

  /// The bytes as a string in Base64, with its quotation marks.
  private static func base64(
    _ facts: AttachmentFacts, in view: any StoreView
  ) throws -> [UInt8] {
    var text: [UInt8] = [UInt8(ascii: "\"")]
    text.reserveCapacity(Int(facts.length + 2) / 3 * 4 + 2)
    var (offset, rest) = (Int64(0), [UInt8]())
    while offset < facts.length {
      let piece = try view.bytes(offset..<facts.length, of: facts)
      offset += Int64(piece.count)
      rest += piece
      let count = offset == facts.length ? rest.count : rest.count / 3 * 3
      Base64.append(Array(rest.prefix(count)), to: &text)
      rest.removeFirst(count)
    }
    text.append(UInt8(ascii: "\""))
    return text
  }
}
