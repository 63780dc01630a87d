import CouchSync
import DequeModule
import Documents

/// What a client pulls (`subChanges`): which changes it has been told of, and which revisions it waits for.
struct LitePull: Sendable {
  /// The most rows of one `changes`, and their number if the client asks for none.
  private static let batches = 1...200
  /// The requests with changes that may have no answer yet.
  private static let announcements = 2
  /// The wanted revisions from which on no further changes are announced.
  private static let wantedAtOnce = 200
  /// The answers with an error after which changes are announced again.
  private static let mostRefusals = 64
  /// The revisions that are read at once.
  private static let revisionsAtOnce = 128
  /// The most revisions of a history if the client names no number, and in any case.
  private static let maximumHistory = 20...1_000
  /// The most revisions of a document that a client may say that it has. LiteCore names 10.
  private static let mostAncestors = 20

  /// A revision that the client wants.
  struct Wanted: Sendable {
    let row: LiteChanges.Row
    /// The revisions that the client has, as it names them.
    let ancestors: Set<String>
    /// Whether what the client has is a revision of a tree, in a database that version 4 has taken over from version 3.
    let isOfTree: Bool
    let maximumHistory: Int
    /// Whether the client takes a newer revision instead.
    let takesNewer: Bool
  }

  /// Changes that are announced together.
  private struct Announcement: Sendable {
    let rows: [LiteChanges.Row]
    /// Whether it is one that the client could not take by itself.
    var isLast = false
  }

  private let batch: Int
  private var isContinuous: Bool
  private let documents: Set<DocumentID>?
  private let channels: LiteChannels?
  private let removals: LiteChanges.Removals
  private let takesNewer: Bool
  private let form: LiteForm
  private let collection: String?
  private var since: SinceToken
  /// Whether tombstones are left out: until all changes were read for the client, which has no document.
  private var isActiveOnly: Bool
  /// The number of the last request with changes when all were read for the first time; nil before.
  private var endToken: Int?
  /// Whether the client was told so.
  private var isCaughtUp = false
  /// Whether there may be changes that are not read yet.
  private var hasNews = true
  /// Whether the last changes that were read are none for the client, and others follow.
  private(set) var isSearching = false
  /// The changes that are announced, until the client has said which ones it wants.
  private var announced: [Int: Announcement] = [:]
  /// Changes that the client could not take, which are announced again.
  private var refused: Deque<Announcement> = []
  private var refusals = 0
  private var wanted: Deque<Wanted> = []
  /// The number of the last request.
  private var lastToken = 0

  /// Reads a request.
  /// - Parameter isOfVersion2: whether the client is Couchbase Lite 2.
  /// - Parameter former: the last one, which is over. What it has announced is still sent.
  /// - Throws: `LiteError` for what is not offered; `badRequest`.
  init(
    _ request: LiteRequest, in form: LiteForm, ofVersion2 isOfVersion2: Bool,
    after former: LitePull?
  ) async throws {
    channels = try LiteChannels(request)
    removals = isOfVersion2 ? .inBodies : request.flag("revocations") ? .inRows : .untold
    takesNewer = request.flag("sendReplacementRevs")
    // A client stops for good after an error. So the position of another server is the start, as if it were another store's.
    let since = request["since"].flatMap { try? SinceToken($0) } ?? .start
    self.since = request.flag("future") ? .now : since
    isContinuous = request.flag("continuous")
    isActiveOnly = request.flag("activeOnly")
    batch = min(max(request["batch"].flatMap { Int($0) } ?? .max, 1), Self.batches.upperBound)
    documents = try await Self.documents(request.body)
    collection = request["collection"]
    self.form = form
    guard let former else { return }
    (announced, wanted, lastToken) = (former.announced, former.wanted, former.lastToken)
  }

  /// Whether no further changes are announced.
  var isOver: Bool { isCaughtUp && !isContinuous }

  /// Announces no further changes.
  mutating func end() { (isContinuous, isCaughtUp, hasNews, refused) = (false, true, false, []) }

  private static func documents(_ body: [UInt8]) async throws -> Set<DocumentID>? {
    guard !body.isEmpty else { return nil }
    let root = try await ParsedJSON.inSlices(body, limits: .document).root
    guard let ids = root["docIDs"] else { return nil }
    guard ids.kind == .array, ids.count <= CouchLimits.filteredDocuments else {
      throw LiteError.http(400, "At most \(CouchLimits.filteredDocuments) documents are named")
    }
    return Set(ids.elements.compactMap { $0.string.flatMap { try? DocumentID($0) } })
  }

  /// Notes that something was committed to the store.
  mutating func noteNews() { hasNews = hasNews || isContinuous }

  /// Notes the answer to a request.
  mutating func note(_ reply: LiteReply, to token: Int) async throws {
    guard let answered = announced.removeValue(forKey: token) else { return }
    guard reply.error == nil else { return refuse(answered) }
    guard !reply.body.isEmpty else { return }
    let root = try await ParsedJSON.inSlices(reply.body, limits: .document).root
    let most = reply.properties["maxHistory"].flatMap { Int($0) } ?? Self.maximumHistory.lowerBound
    for (row, answer) in zip(answered.rows, root.elements) where answer.kind == .array {
      let ancestors = answer.elements.prefix(Self.mostAncestors).compactMap(\.string)
      wanted.append(
        Wanted(
          row: row, ancestors: Set(ancestors),
          isOfTree: ancestors.first.map { (try? RevisionID($0)) != nil } ?? false,
          maximumHistory: min(max(most, 1), Self.maximumHistory.upperBound),
          takesNewer: takesNewer))
    }
  }

  /// Notes that the client can't take some changes. It forgets them, and its checkpoint passes them as soon as it has later
  /// ones. So each half is announced again by itself, and at last one change twice: what has kept the client from it may
  /// have passed. After that, and after many refusals, they count as done: the client has reported why. So do those of a pull
  /// that the client has ended.
  private mutating func refuse(_ announcement: Announcement) {
    refusals += 1
    guard !isOver, !announcement.isLast, refusals <= Self.mostRefusals else { return }
    let (rows, half) = (announcement.rows, announcement.rows.count / 2)
    refused +=
      half == 0
      ? [Announcement(rows: rows, isLast: true)]
      : [rows[..<half], rows[half...]].map { Announcement(rows: Array($0)) }
  }

  /// The next requests; none while the client has to answer first, or there is nothing to send. Revisions are sent without
  /// waiting for answers, so the transport says when the client has enough of them. The next changes precede them, so that
  /// the client's answer is here when they are sent.
  /// - Parameter held: documents whose revisions have to wait.
  mutating func next(
    in store: some LiteStore, holding held: Set<DocumentID>
  ) async throws -> [LiteSession.Outgoing] {
    isSearching = false
    if !isEndDue, announced.count < Self.announcements, wanted.count < Self.wantedAtOnce {
      if let next = refused.popFirst() { return [outgoing(announcing: next)] }
      let changes = hasNews ? try await nextChanges(in: store) : nil
      if let changes { return [changes] }
    }
    if isEndDue {
      isCaughtUp = true
      return [outgoing(LiteRequest("changes", body: LiteChanges.body([]), isNoReply: true))]
    }
    return try await nextRevisions(in: store, holding: held)
  }

  /// Whether the client has to be told that all changes were read, which it believes although a longer message has not
  /// arrived yet. A one-shot pull ends with it, and has what it could not take announced again before. A continuous one
  /// does not end: while others write, it always has some later changes to answer.
  private var isEndDue: Bool {
    guard let endToken, !isCaughtUp else { return false }
    return isContinuous
      ? announced.keys.allSatisfy { $0 > endToken } : announced.isEmpty && refused.isEmpty
  }

  private mutating func nextRevisions(
    in store: some LiteStore, holding held: Set<DocumentID>
  ) async throws -> [LiteSession.Outgoing] {
    if !held.isEmpty, wanted.contains(where: { held.contains($0.row.id) }) {
      wanted = Deque(
        wanted.filter { !held.contains($0.row.id) } + wanted.filter { held.contains($0.row.id) })
    }
    let first = Array(wanted.prefix(Self.revisionsAtOnce).prefix { !held.contains($0.row.id) })
    guard !first.isEmpty else { return [] }
    let read = try await store.read { [form] in try await $0.revisions(first, in: form) }
    wanted.removeFirst(read.count)
    return read.map { outgoing($0) }
  }

  private mutating func nextChanges(in store: some LiteStore) async throws -> LiteSession.Outgoing?
  {
    hasNews = false
    let query = LiteChanges(
      since: since, limit: batch, isActiveOnly: isActiveOnly, documents: documents,
      channels: channels, removals: removals, form: form)
    let page = try await store.read { database in try await database.changes(query) }
    since = page.last
    hasNews = !page.isComplete || hasNews
    isSearching = page.rows.isEmpty && !page.isComplete
    let next = page.rows.isEmpty ? nil : outgoing(announcing: Announcement(rows: page.rows))
    if page.isComplete { (endToken, isActiveOnly) = (endToken ?? lastToken, false) }
    return next
  }

  private mutating func outgoing(announcing changes: Announcement) -> LiteSession.Outgoing {
    lastToken += 1
    announced[lastToken] = changes
    let request = LiteRequest("changes", body: LiteChanges.body(changes.rows))
    return outgoing(request, awaitedBy: lastToken)
  }

  private func outgoing(_ request: LiteRequest, awaitedBy token: Int? = nil) -> LiteSession.Outgoing
  {
    var request = request
    request.properties["collection"] = collection
    return LiteSession.Outgoing(token: token.map(LiteSession.Token.pull), request: request)
  }
}
