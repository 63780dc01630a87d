import CouchSync
import Documents
import Stores

/// The revisions of a client that wait for the bytes of their attachments.
extension LiteSession {
  /// Takes bytes of an attachment.
  /// - Returns: whether more of them are wanted, and the replies to requests that waited for them.
  /// - Throws: an error that ends the session.
  package mutating func receive(
    _ bytes: [UInt8], isLast: Bool, to token: Token, in store: some LiteStore
  ) async throws -> (isWanted: Bool, answers: [Answer]) {
    guard case .upload(let token) = token else { return (false, []) }
    let request = uploads.request(of: token)
    do {
      try await uploads.receive(bytes, isLast: isLast, to: token, in: store)
    } catch {
      guard let request else { return (false, []) }
      let answers = try await refuse(request, error, in: store)
      return (uploads.request(of: token) != nil, answers)
    }
    return (isLast || uploads.request(of: token) != nil, [])
  }

  /// Refuses a revision that waited for its attachments.
  /// - Throws: an error that ends the session.
  mutating func refuse(
    _ request: UInt64, _ error: any Error, in store: some LiteStore
  ) async throws -> [Answer] {
    let reply = try refusal(error)
    guard let refused = uploads.take(request) else { return [] }
    noteSent(refused.push.id.text)
    await store.discard(refused.begun)
    await keep(error, of: refused.push.id.text, refused.push.revision, in: store)
    return [(request, reply)]
  }

  /// Writes the revisions whose attachments have come.
  /// - Returns: the replies to them.
  /// - Throws: an error that ends the session.
  package mutating func finishUploads(in store: some LiteStore) async throws -> [Answer] {
    let complete = uploads.takeComplete()
    guard !complete.isEmpty else { return [] }
    let written: Result<[LiteReply], any Error>
    do {
      written = .success(try await write(complete.map { ($0.push, $0.found) }, to: store))
    } catch { written = .failure(error) }
    // What was not used: another client may have stored the same bytes or the same revision meanwhile, or nothing can be
    // written now, and the bytes come again in the client's next session.
    await store.discard(complete.flatMap(\.begun))
    return zip(complete, try written.get()).map { ($0.request, $1) }
  }

  /// Writes the revisions that need nothing more of a client that sends nothing more: those whose attachments have come,
  /// and those whose documents have the bytes already.
  /// - Throws: an error that ends the session.
  package mutating func finishLast(in store: some LiteStore) async throws {
    for (request, id, attachment) in uploads.unasked {
      if let (facts, isOwn) = try await known(attachment, in: id, store), isOwn {
        uploads.note((facts, .stored(facts.key)), of: attachment.digest, for: request)
      }
    }
    _ = try await finishUploads(in: store)
  }

  /// Looks bytes up that the store has, and whether a document has them.
  private func known(
    _ attachment: LiteAttachment, in id: DocumentID, _ store: some LiteStore
  ) async throws -> (facts: AttachmentFacts, isOwn: Bool)? {
    try await store.read { database in
      try await database.store.read { view in
        try view.attachment(sha1: attachment.digest.bytes).map { facts in
          (facts, try view.names(facts.key, in: id))
        }
      }
    }
  }

  /// Removes what was written of attachments whose revisions can't be written any more, at the end.
  package mutating func end(in store: some LiteStore) async {
    await store.discard(uploads.takeBegun())
  }

  /// The bytes that it holds for revisions that wait for their attachments.
  package var heldBytes: Int { uploads.heldBytes }

  /// Asks for the bytes of an attachment, or for a proof.
  /// - Returns: nil if the document has the bytes already.
  mutating func ask(
    _ next: (request: UInt64, push: LitePush, attachment: LiteAttachment, mayProve: Bool),
    in store: some LiteStore
  ) async throws -> Outgoing? {
    let (attachment, limit) = (next.attachment, store.attachmentBytes)
    var proof: AttachmentProof?
    if let (facts, isOwn) = try await known(attachment, in: next.push.id, store), next.mayProve {
      guard !isOwn else {
        uploads.note((facts, .stored(facts.key)), of: attachment.digest, for: next.request)
        return nil
      }
      proof = try await AttachmentProof(of: facts, in: store)
    }
    guard proof != nil || attachment.length ?? 0 <= limit else {
      throw AttachmentUpload.tooLarge(limit)
    }
    return uploads.ask(
      for: attachment, of: next.push, next.request, proof: proof, limit: limit)
  }
}
