import CouchSync
import DequeModule
import Documents
import Stores

/// The revisions of a client that wait until the bytes of their attachments are here, and what was asked for them.
///
/// Bytes that the document has already are not asked for. Of others that the store has the client proves that it has them
/// too, so that nobody gets bytes of which they only know the digest. All others are asked for, a few at a time, and
/// written to the store while they come.
struct LiteUploads: Sendable {
  /// The most answers of the client that are on their way.
  private static let asked = 2
  /// The bytes of waiting revisions from which on no further one is taken, besides those that LiteCore sends at once: it
  /// then has at most 2 MiB without an answer.
  private static let waitingBytes = 4 << 20
  /// What a waiting revision takes in memory besides its text, about.
  private static let overheadBytes = 1 << 10
  /// The bytes of short attachments that are held until their revision is written. Further ones are written at once.
  private static let heldBytes = 1 << 20

  /// A revision that waits.
  struct Waiting: Sendable {
    /// The number of the client's request.
    let request: UInt64
    let push: LitePush
    var found: [LiteDigest: LiteContent] = [:]
    /// The digests whose proof has failed.
    var unproven: Set<LiteDigest> = []
    /// What is written of its attachments before itself.
    var begun: [AttachmentUpload] = []

    /// The attachments whose bytes are not known.
    var missing: [LiteAttachment] { push.attachments.filter { found[$0.digest] == nil } }
  }

  /// What an answer of the client is about.
  private struct Asked: Sendable {
    let request: UInt64
    let attachment: LiteAttachment
    var form: Form

    enum Form: Sendable {
      case proof(AttachmentProof)
      case bytes(AttachmentUpload)
      /// The revision is refused. The rest of its bytes, at most so many, is taken and dropped: a client that gets no
      /// acknowledgement would never be done.
      case dropped(Int)
    }
  }

  /// In the order in which they came, which is about that in which they become complete: there may be thousands.
  private var waiting: Deque<Waiting> = []
  private var complete: [Waiting] = []
  /// The bytes of the texts of both, and of their attachments that are held in memory.
  private var (textBytes, foundBytes) = (0, 0)
  private var asked: [Int: Asked] = [:]
  private var lastToken = 0

  /// The bytes that are held in memory.
  var heldBytes: Int { attachmentBytes + textBytes + waiting.count * Self.overheadBytes }

  private var attachmentBytes: Int {
    var count = foundBytes
    for case .bytes(let upload) in asked.values.map(\.form) { count += upload.heldBytes }
    return count
  }

  /// Takes a revision.
  /// - Parameter limit: the most bytes of a document.
  /// - Throws: 503 if too much waits; the client sends it again in its next session.
  mutating func add(_ push: LitePush, for request: UInt64, limit: Int) throws(LiteError) {
    guard textBytes <= Self.waitingBytes + LiteSession.revisionsAtOnce * limit else {
      throw .http(503, "Too many revisions wait for their attachments")
    }
    waiting.append(Waiting(request: request, push: push))
    textBytes += push.byteCount
  }

  /// Removes and returns the revisions whose attachments are all here.
  mutating func takeComplete() -> [Waiting] {
    for next in complete { noteRemoved(next) }
    defer { complete = [] }
    return complete
  }

  private mutating func noteRemoved(_ next: Waiting) {
    textBytes -= next.push.byteCount
    foundBytes -= next.found.values.reduce(0) { $0 + $1.content.heldBytes }
  }

  /// Removes and returns a revision that is refused.
  mutating func take(_ request: UInt64) -> Waiting? {
    for (token, next) in asked where next.request == request {
      guard case .bytes(let upload) = next.form else { continue }
      drop(token, next, upload.room)
      note(begun: upload, for: request)
    }
    let index = waiting.firstIndex { $0.request == request }
    let taken = index.map { waiting.remove(at: $0) }
    if let taken { noteRemoved(taken) }
    return taken
  }

  /// Removes and returns all that was begun, at the end of the session.
  mutating func takeBegun() -> [AttachmentUpload] {
    var begun = (waiting + complete).flatMap(\.begun)
    for case .bytes(let upload) in asked.values.map(\.form) where upload.isBegun {
      begun.append(upload)
    }
    (waiting, complete, asked) = ([], [], [:])
    (textBytes, foundBytes) = (0, 0)
    return begun
  }

  // MARK: Asking

  /// The next revision and attachment that the client has to be asked for; nil for none now.
  var next: (request: UInt64, push: LitePush, attachment: LiteAttachment, mayProve: Bool)? {
    guard asked.count < Self.asked else { return nil }
    for next in waiting {
      for attachment in next.missing where !isAsked(attachment.digest, for: next.request) {
        let mayProve = !next.unproven.contains(attachment.digest)
        return (next.request, next.push, attachment, mayProve)
      }
    }
    return nil
  }

  /// All attachments that the client was not asked for, with their requests and documents.
  var unasked: [(request: UInt64, id: DocumentID, attachment: LiteAttachment)] {
    waiting.flatMap { next in
      next.missing.filter { !isAsked($0.digest, for: next.request) }
        .map { (next.request, next.push.id, $0) }
    }
  }

  private func isAsked(_ digest: LiteDigest, for request: UInt64) -> Bool {
    asked.values.contains { $0.request == request && $0.attachment.digest == digest }
  }

  /// Notes the bytes of an attachment: new ones, or those that the store has.
  mutating func note(_ content: LiteContent, of digest: LiteDigest, for request: UInt64) {
    guard let index = waiting.firstIndex(where: { $0.request == request }) else { return }
    waiting[index].found[digest] = content
    foundBytes += content.content.heldBytes
    if waiting[index].missing.isEmpty { complete.append(waiting.remove(at: index)) }
  }

  /// The request for an attachment of a revision that waits.
  /// - Parameter proof: what the client has to prove; nil to ask for the bytes.
  /// - Parameter limit: the most bytes of an attachment.
  mutating func ask(
    for attachment: LiteAttachment, of push: LitePush, _ request: UInt64, proof: AttachmentProof?,
    limit: Int
  ) -> LiteSession.Outgoing {
    lastToken += 1
    asked[lastToken] = Asked(
      request: request, attachment: attachment,
      form: proof.map(Asked.Form.proof) ?? .bytes(AttachmentUpload(limit: limit)))
    var properties = ["digest": attachment.digest.text, "docID": push.id.text]
    properties["collection"] = push.collection
    let (profile, nonce) = proof.map { ("proveAttachment", $0.nonce) } ?? ("getAttachment", [])
    return LiteSession.Outgoing(
      token: .upload(lastToken), request: LiteRequest(profile, properties, body: nonce),
      isStreamed: proof == nil)
  }

  // MARK: Answers

  /// Notes an answer that came whole: of a proof, or an error.
  /// - Returns: the request that has to be refused, and why; nil for none.
  mutating func note(_ reply: LiteReply, to token: Int) -> (request: UInt64, LiteError)? {
    guard let answered = asked.removeValue(forKey: token) else { return nil }
    switch answered.form {
    case .dropped: return nil
    case .bytes:
      // Any other error may pass: the device can't open a file, for example.
      let code = reply.error?.isAbsence ?? true ? 404 : 503
      return (answered.request, .http(code, "The client does not send \(answered.attachment.name)"))
    case .proof(let proof):
      let digest = answered.attachment.digest
      if reply.error == nil, proof.isProven(by: reply.body) {
        note((proof.facts, .stored(proof.facts.key)), of: digest, for: answered.request)
      } else if let index = waiting.firstIndex(where: { $0.request == answered.request }) {
        waiting[index].unproven.insert(digest)
      }
      return nil
    }
  }

  /// Adds bytes that came for an attachment, and writes them to the store when there are enough.
  /// - Throws: 400, 413; the errors of the store. Then refuse the request.
  mutating func receive(
    _ bytes: [UInt8], isLast: Bool, to token: Int, in store: some LiteStore
  ) async throws {
    guard var answer = asked.removeValue(forKey: token) else { return }
    switch answer.form {
    case .proof: break
    case .dropped(let room): if !isLast { drop(token, answer, room - bytes.count) }
    case .bytes(var upload):
      do {
        try answer.attachment.check(upload.count + bytes.count)
        try upload.append(bytes)
        let mustWrite =
          isLast && (upload.isBegun || attachmentBytes + upload.count > Self.heldBytes)
        if upload.isFull || mustWrite {
          var next = upload
          upload = try await store.write { database in
            try await database.write(&next, isLast: isLast)
            return next
          }
        }
        guard isLast else {
          answer.form = .bytes(upload)
          asked[token] = answer
          return
        }
        let new = upload.finish()
        try answer.attachment.check(new)
        note(begun: upload, for: answer.request)
        note((new.facts, .new(new)), of: answer.attachment.digest, for: answer.request)
      } catch {
        note(begun: upload, for: answer.request)
        if !isLast { drop(token, answer, upload.room - bytes.count) }
        throw error
      }
    }
  }

  private mutating func drop(_ token: Int, _ answer: Asked, _ room: Int) {
    var answer = answer
    answer.form = .dropped(room)
    asked[token] = room >= 0 ? answer : nil
  }

  private mutating func note(begun upload: AttachmentUpload, for request: UInt64) {
    guard upload.isBegun, let index = waiting.firstIndex(where: { $0.request == request }) else {
      return
    }
    waiting[index].begun.append(upload)
  }

  /// The request that an answer is for; nil if no more bytes are taken for it.
  func request(of token: Int) -> UInt64? { asked[token]?.request }
}
