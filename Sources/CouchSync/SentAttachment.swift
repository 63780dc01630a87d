package import Documents
import JSON
import Scheduling
package import Stores

/// An attachment of a document to write, with the bytes that came with it.
package struct SentAttachment: Sendable {
  package let name: AttachmentName
  let contentType: String?
  /// `revpos`, which only counts for a peer's revision.
  let generation: Int?
  let digest: String?
  /// Its bytes; nil for a stub.
  let bytes: Bytes?

  /// Bytes, and what is known of them.
  package typealias Bytes = (facts: AttachmentFacts, content: AttachmentContent)

  package init(_ attachment: IncomingAttachment, _ bytes: NewAttachment?) {
    name = attachment.name
    contentType = attachment.contentType
    generation = attachment.generation
    digest = attachment.digest
    self.bytes = bytes.map { ($0.facts, .new($0)) }
  }

  /// An attachment that comes without a document.
  package init(name: AttachmentName, contentType: String, _ bytes: NewAttachment) {
    self.init(name: name, contentType: contentType, bytes.facts, .new(bytes))
  }

  /// An attachment whose bytes came otherwise, or that the store has.
  package init(
    name: AttachmentName, contentType: String?, _ facts: AttachmentFacts,
    _ content: AttachmentContent
  ) {
    (self.name, self.contentType) = (name, contentType)
    (generation, digest, bytes) = (nil, nil, (facts, content))
  }

  /// How many characters of Base64 are decoded at once. They are whole bytes.
  private static let charactersAtOnce = 64 << 10

  /// Decodes the attachments of a document, and gives way between two parts of one.
  /// - Parameter limit: the most bytes of one.
  /// - Parameter following: the bytes that followed the document.
  /// - Throws: 400 for what is not Base64, and for bytes that did not follow; 413.
  static func decoding(
    _ attachments: [IncomingAttachment], limit: Int,
    following: [AttachmentName: NewAttachment]
  ) async throws -> [SentAttachment] {
    var sent: [SentAttachment] = []
    for attachment in attachments {
      switch attachment.content {
      case .stub: sent.append(SentAttachment(attachment, nil))
      case .follows:
        guard let bytes = following[attachment.name] else {
          throw DocumentError(
            .invalidAttachment,
            "The bytes of \(attachment.name) do not follow: send multipart/related")
        }
        sent.append(SentAttachment(attachment, bytes))
      case .data(let node):
        sent.append(
          SentAttachment(
            attachment,
            try await decode(Array((node.string ?? "").utf8), of: attachment.name, limit: limit)))
      }
    }
    return sent
  }

  private static func decode(
    _ text: [UInt8], of name: AttachmentName, limit: Int
  ) async throws -> NewAttachment {
    guard text.count / 4 <= limit / 2 else { throw AttachmentUpload.tooLarge(limit) }
    var (upload, decoder) = (AttachmentUpload(limit: limit), Base64.Decoder())
    var rest = text[...]
    while !rest.isEmpty {
      guard let bytes = decoder.decode(rest.prefix(charactersAtOnce)) else {
        throw IncomingAttachment.invalidData(name)
      }
      rest = rest.dropFirst(charactersAtOnce)
      try upload.append(bytes)
      try await Slice.giveWay()
    }
    guard let last = decoder.finish() else { throw IncomingAttachment.invalidData(name) }
    try upload.append(last)
    return upload.finish()
  }
}

/// The bytes that the attachments of the revisions of one update have.
struct AttachedContents {
  private(set) var all: [AttachedRevision: [AttachmentName: AttachmentContent]] = [:]
  /// The names of the attachments that the update adds to each document, and their bytes.
  private var names: [DocumentID: (count: Int, bytes: Int)] = [:]

  /// The stubs of a revision with attachments, for its body.
  /// - Parameter earlier: the revisions whose attachments a stub may name.
  /// - Parameter generation: the generation of the new revision.
  /// - Throws: ``DocumentError`` with code `missingStub`, or `tooManyLeaves` for a document whose revisions name too many.
  func stubs(
    of sent: [SentAttachment], from earlier: EarlierAttachments, generation: Int, isReplicated: Bool
  ) throws -> (stubs: [AttachmentStub], contents: [AttachmentName: AttachmentContent]) {
    var stubs: [AttachmentStub] = []
    var contents: [AttachmentName: AttachmentContent] = [:]
    try earlier.view.requireRoom(for: sum(sent.map(\.name), of: earlier.id), of: earlier.id)
    for attachment in sent {
      let sent = isReplicated ? attachment.generation : nil
      if let bytes = attachment.bytes {
        let stub = AttachmentStub(
          name: attachment.name,
          contentType: attachment.contentType ?? IncomingAttachment.standardType,
          generation: sent ?? generation, digest: bytes.facts.digest,
          length: bytes.facts.length)
        // Couchbase Lite names blobs without a generation, changed or not.
        let isKept = isReplicated && sent == nil
        stubs.append(
          isKept ? stub.following(try earlier.stubsOfParent, generation: generation) : stub)
        contents[attachment.name] = bytes.content
      } else {
        let known = try earlier.attachment(attachment, among: self)
        stubs.append(
          AttachmentStub(
            name: attachment.name,
            contentType: isReplicated
              ? attachment.contentType ?? known.stub.contentType : known.stub.contentType,
            generation: sent ?? known.stub.generation,
            digest: known.stub.digest, length: known.stub.length))
        contents[attachment.name] = known.content
      }
    }
    return (stubs, contents)
  }

  mutating func add(
    _ contents: [AttachmentName: AttachmentContent], _ id: DocumentID, _ revision: RevisionID
  ) {
    all[AttachedRevision(id: id, revision: revision)] = contents
    names[id] = sum(contents.keys, of: id)
  }

  private func sum(
    _ added: some Collection<AttachmentName>, of id: DocumentID
  ) -> (count: Int, bytes: Int) {
    let known = names[id] ?? (0, 0)
    return (
      known.count + added.count, added.reduce(known.bytes) { $0 + $1.text.utf8.count }
    )
  }

  func record(in changes: inout StoreChanges) throws {
    for (revision, contents) in all { try changes.attach(contents, to: revision) }
  }
}

/// The attachments of the revisions before a new one.
struct EarlierAttachments {
  let id: DocumentID
  /// The revisions from which the new one descends, the nearest first.
  let ancestors: [RevisionID]
  /// Other revisions of the document. A stub has their attachments only by digest.
  var others: [RevisionID] = []
  let edits: DocumentEdits
  let view: any StoreView

  /// The attachments of the revision before.
  var stubsOfParent: [AttachmentStub] {
    get throws {
      guard let parent = ancestors.first else { return [] }
      let body = try edits.body(of: parent)?.bytes ?? view.body(id, parent)
      return body.flatMap { DocumentBody.attachments(in: $0)?.stubs } ?? []
    }
  }

  /// The attachment that a stub names. A peer's digest may differ from that of the same attachment here: CouchDB's is of
  /// the packed bytes. Then it is found by its name and `revpos`, as far as these are sent.
  ///
  /// Source: CouchDB, `couch_att:merge_stubs`.
  /// - Throws: ``DocumentError`` with code `missingStub`.
  func attachment(
    _ sent: SentAttachment, among contents: AttachedContents
  ) throws -> (stub: AttachmentStub, content: AttachmentContent) {
    var found: (stub: AttachmentStub, content: AttachmentContent)?
    for (index, revision) in (ancestors + others).enumerated() {
      let body = try edits.body(of: revision)?.bytes ?? view.body(id, revision)
      let stub = body.flatMap { DocumentBody.attachments(in: $0)?.stubs }?
        .first { $0.name == sent.name }
      guard let stub, let content = try content(of: stub, revision, contents) else { continue }
      // Couchbase Lite's digest is always of the bytes themselves.
      if let digest = sent.digest, digest.hasPrefix("sha1-") {
        if try sha1(of: content) == digest { return (stub, content) }
        continue
      }
      if let digest = sent.digest, digest.equalsBytes(of: stub.digest) { return (stub, content) }
      let isSame = sent.generation == nil || sent.generation == stub.generation
      if found == nil, isSame, index < ancestors.count { found = (stub, content) }
    }
    guard let found else {
      throw DocumentError(.missingStub, "Invalid attachment stub in \(id) for \(sent.name)")
    }
    return found
  }

  private func content(
    of stub: AttachmentStub, _ revision: RevisionID, _ contents: AttachedContents
  ) throws -> AttachmentContent? {
    if let new = contents.all[AttachedRevision(id: id, revision: revision)] {
      return new[stub.name]
    }
    return try view.attachmentKeys(of: id, revision)[stub.name].map { .stored($0) }
  }

  /// The digest of bytes as Couchbase Lite writes it.
  private func sha1(of content: AttachmentContent) throws -> String? {
    let facts: AttachmentFacts? =
      switch content {
      case .new(let new): new.facts
      case .stored(let key): try view.attachment(key)
      }
    return facts.map { "sha1-" + Base64.string($0.sha1) }
  }
}
