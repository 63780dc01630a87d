package import Documents
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
  /// Whether the digest is Couchbase Lite's.
  fileprivate var hasLiteDigest: Bool { digest?.hasPrefix("sha1-") ?? false }

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
  /// How many attachments the revisions have.
  private(set) var count = 0

  /// The stubs of a revision with attachments, for its body.
  /// - Parameter earlier: the revisions whose attachments a stub may name.
  /// - Parameter generation: the generation of the new revision.
  /// - Throws: ``DocumentError`` with code `missingStub`, or `tooManyLeaves` for a document whose revisions name too many.
  func stubs(
    of sent: [SentAttachment], from earlier: EarlierAttachments, generation: Int, isReplicated: Bool
  ) throws -> (stubs: [AttachmentStub], contents: [AttachmentName: AttachmentContent]) {
    var stubs: [AttachmentStub] = []
    var contents: [AttachmentName: AttachmentContent] = [:]
    var former: [AttachmentStub]?
    try earlier.view.requireRoom(for: sum(sent.map(\.name), of: earlier.id), of: earlier.id)
    let known = try earlier.attachments(of: sent.filter { $0.bytes == nil }, among: self)
    for attachment in sent {
      let sent = isReplicated ? attachment.generation : nil
      if let bytes = attachment.bytes {
        let stub = AttachmentStub(
          name: attachment.name,
          contentType: attachment.contentType ?? IncomingAttachment.standardType,
          generation: sent ?? generation, digest: bytes.facts.digest,
          length: bytes.facts.length)
        // Couchbase Lite names blobs without a generation, changed or not.
        if isReplicated, sent == nil {
          let parent = try former ?? earlier.stubsOfParent
          stubs.append(stub.following(parent, generation: generation))
          former = parent
        } else {
          stubs.append(stub)
        }
        contents[attachment.name] = bytes.content
      } else {
        guard let known = known[attachment.name] else {
          throw DocumentError(
            .missingStub, "Invalid attachment stub in \(earlier.id) for \(attachment.name)")
        }
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
    count += contents.count
    names[id] = sum(contents.keys, of: id)
  }

  private func sum(
    _ added: some Collection<AttachmentName>, of id: DocumentID
  ) -> (count: Int, bytes: Int) {
    let known = names[id] ?? (0, 0)
    return (known.count + added.count, added.reduce(known.bytes) { $0 + $1.text.utf8.count })
  }

  func record(in changes: inout StoreChanges) throws {
    for (revision, contents) in all { try changes.attach(contents, to: revision) }
  }
}

/// The attachments of the revisions before a new one.
struct EarlierAttachments {
  typealias Found = (stub: AttachmentStub, content: AttachmentContent)

  /// Of so many conflicting revisions a peer's new one may have an attachment without its bytes. Beyond, the peer is asked
  /// for the bytes.
  private static let mostOthers = 32

  let id: DocumentID
  /// The revisions from which the new one descends, the nearest first.
  let ancestors: [RevisionID]
  /// Other revisions of the document, of which ``mostOthers`` are looked at. A stub has their attachments only by digest.
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

  /// The attachments that stubs name, as far as they are found. A peer's digest may differ from that of the same attachment
  /// here: CouchDB's is of the packed bytes. Then it is found by its name and `revpos`, as far as these are sent.
  ///
  /// Each revision is read once, however many stubs there are.
  /// Source: CouchDB, `couch_att:merge_stubs`.
  func attachments(
    of sent: [SentAttachment], among contents: AttachedContents
  ) throws -> [AttachmentName: Found] {
    var (missing, found) = (sent, [AttachmentName: Found]())
    guard !missing.isEmpty else { return found }
    let record = try AttachmentRecord(of: id, in: view)
    for (index, revision) in (ancestors + others.prefix(Self.mostOthers)).enumerated() {
      let known =
        try contents.all[AttachedRevision(id: id, revision: revision)]
        ?? record.names(of: revision, from: view.local).mapValues { .stored($0) }
      guard !known.isEmpty else { continue }
      let body = try edits.body(of: revision)?.bytes ?? view.body(id, revision)
      let stubs = body.flatMap { DocumentBody.attachments(in: $0)?.stubs } ?? []
      let named = Dictionary(stubs.map { ($0.name, $0) }) { first, _ in first }
      missing = try missing.filter { sent in
        guard let stub = named[sent.name], let content = known[sent.name] else { return true }
        if try sent.digest.map({ try isDigest($0, of: stub, content) }) ?? false {
          found[sent.name] = (stub, content)
          return false
        }
        let isSame = sent.generation == nil || sent.generation == stub.generation
        // Couchbase Lite's digest is always of the bytes themselves.
        if found[sent.name] == nil, isSame, index < ancestors.count, !sent.hasLiteDigest {
          found[sent.name] = (stub, content)
        }
        return sent.digest != nil || found[sent.name] == nil
      }
      if missing.isEmpty { break }
    }
    return found
  }

  private func isDigest(
    _ digest: String, of stub: AttachmentStub, _ content: AttachmentContent
  ) throws -> Bool {
    digest.hasPrefix("sha1-")
      ? try sha1(of: content) == digest : digest.equalsBytes(of: stub.digest)
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
