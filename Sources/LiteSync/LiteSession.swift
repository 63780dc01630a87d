package import CouchSync
import Documents
import Scheduling
package import Stores

/// Lends the database of a session, with the present rights of its client.
package protocol LiteStore: Sendable {
  /// The size limits of its documents.
  var documentLimits: DocumentLimits { get }
  /// The most bytes of one attachment.
  var attachmentBytes: Int { get }
  /// Lends it for an operation that writes nothing but local documents.
  func read<Value>(_ use: (CouchDatabase) async throws -> Value) async throws -> Value
  /// Lends it for an operation that writes.
  func write<Value>(_ use: (CouchDatabase) async throws -> Value) async throws -> Value
  /// Removes what was written of attachments, even if the present work has ended. One whose document is written stays.
  func discard(_ uploads: [AttachmentUpload]) async
}

/// A session of Couchbase Lite's sync with one database: the server's side, without a transport.
///
/// The client pushes with `proposeChanges` and `rev`, and pulls with `subChanges`, after which the server sends `changes`
/// and `rev`. The server keeps nothing of a session but what is on its way.
/// Source: LiteCore's "Replication Protocol"; the page of the book about Couchbase Lite.
package struct LiteSession: Sendable {
  /// What an answer of the client is about.
  package enum Token: Sendable {
    case pull(Int)
    case upload(Int)
  }

  /// A request for the client.
  package struct Outgoing: Sendable {
    /// To note the answer with; nil for a request without one.
    package let token: Token?
    package let request: LiteRequest
    /// Whether the answer has the bytes of an attachment, which are taken as they come.
    package var isStreamed = false
  }

  /// A request of the client, with its number.
  package typealias Asked = (number: UInt64, request: LiteRequest)
  /// A reply to the request with this number.
  package typealias Answer = (number: UInt64, reply: LiteReply)

  /// The names of the only collection there is.
  static let defaultNames = ["_default", "_default._default"]
  /// The most collections that a client may name.
  private static let maximumCollections = 1_000

  /// The revisions that LiteCore sends at the same time. Source: its `kDefaultMaxRevsInFlight`.
  package static let revisionsAtOnce = 10
  /// The most rows of one `proposeChanges`.
  package static let maximumProposals = LiteProposals.maximumRows

  /// What a client must get, or come back for: after an error that may pass it would wait for its checkpoint for good, or pass
  /// a document whose blob it has not got. Source: LiteCore's `Replicator` and `IncomingRev::blobGotError`.
  private static let needed = ["getCheckpoint", "getCollections", "getAttachment"]
  /// What passes soon. A client sends again in its next session what it could not send now, and a continuous one may have none
  /// for days. So the session ends, and the client comes back after some seconds.
  private static let brief: Set<ServiceError.Code> = [
    .unavailable, .overloaded, .storage, .outcomeUnknown, .readOnly, .moved,
  ]

  private var form: LiteForm
  /// Whether each collection that the client has named exists; nil for a client that names none.
  private var collections: [Bool]?
  private var pull: LitePull?
  var uploads = LiteUploads()
  /// The documents of which the client is about to send revisions that the server merges. Their present revisions are sent
  /// after that: the client would see a conflict, and what its user has edited might lose it.
  private var merging: Set<DocumentID> = []
  private let isOfVersion2: Bool
  private let merges: LiteMerging
  private let status: @Sendable (ServiceError.Code) -> Int

  /// A session in which nothing has been said.
  /// - Parameters:
  ///   - form: how revisions are named.
  ///   - isOfVersion2: whether the client is Couchbase Lite 2.
  ///   - merges: whether the server merges the conflicts of a document.
  ///   - status: the status of an error's code in HTTP.
  package init(
    in form: LiteForm, ofVersion2 isOfVersion2: Bool = false, merges: @escaping LiteMerging,
    status: @escaping @Sendable (ServiceError.Code) -> Int
  ) {
    (self.form, self.isOfVersion2) = (form, isOfVersion2)
    (self.merges, self.status) = (merges, status)
  }

  /// Whether the last changes that were read are none for the client, and others follow. Then there is more to do, although
  /// the client has to answer nothing.
  package var isSearching: Bool { pull?.isSearching ?? false }

  /// Notes that something was committed to the store.
  package mutating func noteNews() { pull?.noteNews() }

  /// Notes the answer to a request of the server.
  /// - Returns: the replies to requests that waited for it.
  package mutating func note(
    _ reply: LiteReply, to token: Token, in store: some LiteStore
  ) async throws -> [Answer] {
    switch token {
    case .pull(let token): try await pull?.note(reply, to: token)
    case .upload(let token):
      if let (request, error) = uploads.note(reply, to: token) {
        return try await refuse(request, error, in: store)
      }
    }
    return []
  }

  /// The next requests for the client. A client that is asked much has to answer before there are more.
  /// - Returns: the requests, and the replies to revisions whose attachments can't be asked for.
  /// - Throws: the errors of the store.
  package mutating func next(
    in store: some LiteStore
  ) async throws -> (requests: [Outgoing], answers: [Answer]) {
    while let next = uploads.next {
      do {
        guard let outgoing = try await ask(next, in: store) else { continue }
        return ([outgoing], [])
      } catch { return ([], try await refuse(next.request, error, in: store)) }
    }
    return (try await pull?.next(in: store, holding: merging) ?? [], [])
  }

  /// Answers requests that have come together. Revisions in a row are written together; those with attachments are
  /// answered later, by ``finishUploads(in:)``.
  /// - Returns: the replies.
  /// - Throws: an error that ends the session: the client has lost its right or its store, or the work was ended.
  package mutating func answer(
    _ requests: [Asked], in store: some LiteStore
  ) async throws -> [Answer] {
    var answers: [Answer] = []
    var rest = requests[...]
    while let first = rest.first {
      let revisions = rest.prefix { $0.request.profile == "rev" }
      if revisions.isEmpty {
        do { answers.append((first.number, try await answer(first.request, in: store))) } catch {
          answers.append((first.number, try refusal(error, of: first.request)))
        }
      } else {
        answers += try await take(revisions, in: store)
      }
      rest = rest.dropFirst(max(revisions.count, 1))
    }
    return answers
  }

  private mutating func answer(
    _ request: LiteRequest, in store: some LiteStore
  ) async throws -> LiteReply {
    guard !request.isTooLong else { throw LiteError.http(413, "The message is too long") }
    if request.profile == "getCollections" { return try await nameCollections(request, in: store) }
    try checkCollection(of: request)
    switch request.profile {
    case "proveAttachment": throw LiteError.http(404, "There is no such blob")
    case "norev":
      noteSent(request["id"])
      return LiteReply()
    // By it Couchbase Lite for JavaScript keeps its connection open.
    case "PING": return LiteReply()
    // Couchbase Lite 2 then proposes its changes.
    case "changes": throw LiteError("BLIP", 409, "Propose changes instead")
    case "getCheckpoint":
      return try await store.read { try await $0.checkpoint(of: request["client"]) }
    case "setCheckpoint": return try await store.write { try await $0.setCheckpoint(request) }
    case "getAttachment":
      guard let digest = request["digest"].flatMap({ LiteDigest($0) }),
        let facts = try await store.read({ database in
          try await database.store.read { view in try view.attachment(sha1: digest.bytes) }
        })
      else { throw LiteError.http(404, "There is no such blob") }
      return LiteReply(attachment: facts)
    case "proposeChanges":
      let proposals = try await LiteProposals(request.body)
      let verdicts = try await store.read { [form, merges] in
        try await $0.verdicts(on: proposals.rows, in: form, merges: merges)
      }
      for case (let row, .merged) in zip(proposals.rows, verdicts)
      where merging.count < LiteProposals.maximumRows {
        if let id = row.id { merging.insert(id) }
      }
      return LiteReply(
        ["blobs": "true"],
        body: LiteProposals.answer(
          verdicts, includesRevision: request.flag("conflictIncludesRev")))
    case "subChanges":
      guard pull?.isOver ?? true else {
        throw LiteError.http(500, "The changes are being sent already")
      }
      if request["versioning"] == "version-vectors" { form = .vectors }
      pull = try await LitePull(request, in: form, ofVersion2: isOfVersion2, after: pull)
      return LiteReply()
    case "unsubChanges":
      pull?.end()
      return LiteReply()
    default: throw LiteError("BLIP", 404, "There is no such operation")
    }
  }

  private mutating func nameCollections(
    _ request: LiteRequest, in store: some LiteStore
  ) async throws -> LiteReply {
    let root = try await ParsedJSON.inSlices(request.body, limits: .document).root
    guard let names = root["collections"], let clients = root["checkpoint_ids"],
      names.count == clients.count, names.count <= Self.maximumCollections
    else { throw LiteError.http(400, "Each collection has a checkpoint") }
    let exist = names.elements.map { name in Self.defaultNames.contains { name.stringEquals($0) } }
    // Each has a checkpoint in the answer.
    guard exist.count(where: \.self) <= Self.defaultNames.count else {
      throw LiteError.http(400, "A collection is named more than once")
    }
    let known = zip(exist, clients.elements).map { $0 ? $1.string ?? "" : nil }
    collections = exist
    return LiteReply(body: try await store.read { try await $0.checkpoints(of: known) })
  }

  /// - Throws: `LiteError` for a collection that does not exist.
  private func checkCollection(of request: LiteRequest) throws {
    guard let text = request["collection"] else { return }
    guard let collections, let index = Int(text), collections.indices.contains(index),
      collections[index]
    else { throw LiteError.http(400, "There is no such collection") }
  }

  /// Takes revisions: writes those without attachments, and lets the others wait.
  private mutating func take(
    _ requests: ArraySlice<Asked>, in store: some LiteStore
  ) async throws -> [Answer] {
    var answers: [Answer] = []
    var (pushes, numbers): ([(LitePush, [LiteDigest: LiteContent])], [UInt64]) = ([], [])
    for (number, request) in requests {
      do {
        guard !request.isTooLong else {
          throw ServiceError(.documentTooLarge, "The document is too large")
        }
        try checkCollection(of: request)
        let push = try await LitePush(
          request, in: form, limits: store.documentLimits, merges: merges)
        if push.attachments.isEmpty {
          pushes.append((push, [:]))
          numbers.append(number)
        } else {
          try uploads.add(push, for: number, limit: store.documentLimits.bytes)
        }
      } catch {
        noteSent(request["id"])
        answers.append((number, try refusal(error)))
        await keep(error, of: request["id"], request["rev"], in: store)
      }
      try await Slice.giveWay()
    }
    return answers + zip(numbers, try await write(pushes, to: store)).map { ($0, $1) }
  }

  /// Keeps for the delivery ledger why a revision was refused that is no document that could be stored.
  func keep(
    _ error: any Error, of id: String?, _ revision: String?, in store: some LiteStore
  ) async {
    guard let error = ServiceError(error) else { return }
    try? await store.write { await $0.keepRefusal(of: id, revision, error) }
  }

  /// Notes that the client has sent a document, or can't send it.
  mutating func noteSent(_ id: String?) {
    guard !merging.isEmpty, let id, let id = try? DocumentID(id) else { return }
    merging.remove(id)
  }

  /// Writes revisions, each independent of the others.
  mutating func write(
    _ pushes: [(push: LitePush, found: [LiteDigest: LiteContent])], to store: some LiteStore
  ) async throws -> [LiteReply] {
    var replies = [LiteReply](repeating: LiteReply(), count: pushes.count)
    var (writes, indices): ([DocumentWrite], [Int]) = ([], [])
    for (index, next) in pushes.enumerated() {
      merging.remove(next.push.id)
      do {
        writes.append(try await next.push.write(limits: store.documentLimits, next.found))
        indices.append(index)
      } catch {
        replies[index] = try refusal(error)
        await keep(error, of: next.push.id.text, next.push.revision, in: store)
      }
      try await Slice.giveWay()
    }
    guard !writes.isEmpty else { return replies }
    do {
      let outcomes = try await store.write { [writes] in try await $0.write(writes) }
      for (index, outcome) in zip(indices, outcomes) {
        if case .failure(let error) = outcome { replies[index] = try refusal(error) }
      }
    } catch {
      let refusal = try refusal(error, of: LiteRequest("rev"))
      for index in indices { replies[index] = refusal }
    }
    return replies
  }

  /// The reply for an error.
  /// - Parameter request: the request, if the error may be about the whole database, and not about one document.
  /// - Throws: an error after which no request can be answered: the client has lost its right or its database, the work was
  ///   ended, or the client would lose something by a reply. What has no reply, the client sends again in its next session.
  func refusal(_ error: any Error, of request: LiteRequest? = nil) throws -> LiteReply {
    if let error = error as? LiteError { return LiteReply(error: error) }
    guard let known = ServiceError(error), known.code != .ended else { throw error }
    // A checkpoint that is not written loses nothing, and the client pulls on.
    if Self.brief.contains(known.code), request?.profile != "setCheckpoint" { throw error }
    let code = status(known.code)
    if known.code == .absent || code == 401 || code == 403 && request != nil { throw error }
    let reply = LiteError(known, status: status)
    if let request, Self.needed.contains(request.profile), reply.isPassing { throw error }
    return LiteReply(error: reply)
  }
}
