package import Documents
package import Stores

/// Which attachments of a document an answer contains with their bytes.
///
/// Source: CouchDB, "GET /{db}/{docid}: attachments, atts_since".
package struct WantedAttachments: Sendable, Hashable {
  /// The revisions that the client has. Attachments that are older than the newest of them stay stubs.
  private(set) var since: Set<RevisionID> = []

  /// All of them.
  static let all = WantedAttachments()

  private init() {}

  /// Reads `attachments` and `atts_since`; nil when neither asks for bytes.
  /// - Throws: 400.
  init?(_ parameters: CouchParameters) throws {
    let list = try parameters.json("atts_since")
    guard parameters.isTrue("attachments") || list != nil else { return nil }
    self = .all
    guard let list else { return }
    do { self = try WantedAttachments(since: list) } catch {
      throw ServiceError.badRequest(error.reason)
    }
  }

  /// Reads `atts_since`. A revision that can't be stored is none that the client has.
  /// - Throws: ``Malformed`` for anything else than a list of revisions, and for more than a branch has.
  init(since list: JSONNode) throws(Malformed) {
    guard list.kind == .array else {
      throw Malformed(node: list, reason: "att_since value must be array of revs.")
    }
    let most = HistoryLimits.standard.revisions
    guard list.count <= most else {
      throw Malformed(node: nil, reason: "`atts_since` has at most \(most) revisions")
    }
    for node in list.elements {
      guard let named = node.string.flatMap({ try? NamedRevision($0) }) else {
        throw Malformed(node: node, reason: "Invalid rev format")
      }
      if let revision = named.revision { since.insert(revision) }
    }
  }

  /// What is wrong with `atts_since`.
  struct Malformed: Error {
    /// The wrong value; nil if there are too many.
    let node: JSONNode?
    let reason: String
  }

  /// The newest ancestor that the client has; nil for none.
  func known(in history: [RevisionID]) -> RevisionID? {
    since.isEmpty ? nil : history.first { since.contains($0) }
  }
}

/// The attachments of one revision, as an answer contains them.
struct AttachmentReader {
  /// How an answer contains the bytes.
  enum Form {
    /// In the document, in Base64, as gaps.
    case data
    /// In the document, in Base64, up to ``mostInList``.
    case listed
    /// Behind the document, as parts of `multipart/related`.
    case follows
  }

  /// A document's body, and what it leaves out.
  struct Body {
    var bytes: [UInt8]
    var gaps: [RevisionText.Gap] = []
    var following: [FoundAttachment] = []
  }

  let id: DocumentID
  let revision: RevisionID
  /// The newest ancestor that the client has; nil for none. Attachments that it has, too, stay stubs.
  let known: RevisionID?

  /// The most bytes of a document's attachments in a list of documents: 1 MiB. Those beyond it stay stubs.
  private static let mostInList: Int64 = 1 << 20

  /// The attachments that a body names, with what is known of the bytes that the answer contains; nil for one that stays a
  /// stub.
  private func wanted(
    _ stubs: [AttachmentStub], in view: any StoreView
  ) throws -> [(stub: AttachmentStub, facts: AttachmentFacts?)] {
    let keys = try view.attachmentKeys(of: id, revision)
    let former = try known.map { try view.attachmentKeys(of: id, $0) } ?? [:]
    let isKept = try known.map { try !former.isEmpty || view.body(id, $0) != nil } ?? false
    return try stubs.map { stub in
      guard let key = keys[stub.name] else { return (stub, nil) }
      // A revision that was merged or restored has attachments of revisions that are not its ancestors.
      let isKnown =
        known.map { stub.generation <= $0.generation && (!isKept || former[stub.name] == key) }
        ?? false
      return try (stub, isKnown ? nil : view.attachment(key))
    }
  }

  /// A body with the attachments in a form. Attachments whose bytes are not here stay stubs.
  func body(_ body: [UInt8], as form: Form, in view: any StoreView) throws -> Body {
    guard let (stubs, range) = DocumentBody.attachments(in: body) else { return Body(bytes: body) }
    var (result, writer) = (Body(bytes: []), JSONWriter())
    writer.beginObject()
    try writer.object("_attachments") { writer in
      var size: Int64 = 0
      for (stub, facts) in try wanted(stubs, in: view) {
        try writer.object(stub.name.text) { writer in
          stub.appendMembers(to: &writer)
          switch (form, facts) {
          case (.data, let facts?):
            writer.member("data", raw: Array("\"\"".utf8))
            result.gaps.append(
              RevisionText.Gap(offset: writer.bytes.count - 1, facts: facts, isBase64: true))
          case (.listed, let facts?) where facts.length <= Self.mostInList - size:
            size += facts.length
            writer.member("data", raw: try Self.text(of: facts, in: view))
          case (.follows, let facts?):
            result.following.append(FoundAttachment(stub: stub, facts: facts))
            writer.member("length", Int(clamping: stub.length))
            writer.member("follows", true)
          default:
            writer.member("length", Int(clamping: stub.length))
            writer.member("stub", true)
          }
        }
      }
    }
    writer.members(of: DocumentBody.rest(of: body, behind: range))
    writer.endObject()
    result.bytes = writer.bytes
    return result
  }

  private static func text(of facts: AttachmentFacts, in view: any StoreView) throws -> [UInt8] {
    var (stream, text) = (AttachmentStream(facts, isBase64: true), [UInt8(ascii: "\"")])
    while !stream.isComplete { text += try stream.next(in: view) }
    return text + [UInt8(ascii: "\"")]
  }
}

/// An attachment of a revision, without its bytes.
package struct FoundAttachment: Sendable {
  package let stub: AttachmentStub
  package let facts: AttachmentFacts

  package init(stub: AttachmentStub, facts: AttachmentFacts) {
    (self.stub, self.facts) = (stub, facts)
  }
}
