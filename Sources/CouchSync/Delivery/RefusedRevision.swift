package import Documents
package import Stores

/// A revision that a device sent and that was refused for good, or for want of room. It is kept, so that nothing is lost
/// where the device goes on without it.
///
/// A store has at most ``most`` of each person, one of a document: the last. They expire after ``keptDays``. Each is a
/// note of the store, `receipt/refused/<person>/<hash of the id>`, whose revision number is the time in milliseconds.
package struct RefusedRevision: Sendable {
  /// How many one person has in a store. Beyond, the oldest go.
  package static let most = 100
  /// The longest body that is kept: 64 KiB, and at most this part of what the store may have; see ``longestBody(in:)``.
  package static let mostBytes = 64 << 10
  private static let leastShare: Int64 = 256
  /// For how long they are kept.
  package static let keptDays: Int64 = 30
  /// How often the server writes one again by itself that was refused for want of room, and after how many seconds at
  /// the earliest it does so once more.
  package static let mostRetries = 3
  package static let retryPause: Int64 = 60
  private static let secondsOfDay: Int64 = 86_400

  package let id: DocumentID
  package let revision: RevisionID
  /// The revision with its ancestors, newest first, as far as they are kept.
  let history: [RevisionID]
  package let isDeleted: Bool
  /// The word of the error, as `/couch` says it.
  package let error: String
  package let reason: String
  /// Whether the same revision can pass later, without a change.
  package let canPass: Bool
  private let lacksRight: Bool
  /// Whether the store has the revision with another body.
  private let collides: Bool
  /// Whether it had attachments, which are not kept.
  package let hasAttachments: Bool
  package let time: Timestamp
  /// How often it was refused of a device.
  package fileprivate(set) var attempts: Int
  /// How often the server has written it again by itself, and when it did so last.
  private var retries = 0
  private var lastRetry: Timestamp?
  package let device: DeviceLabel?
  /// The body; nil for one that is too long, and in a list, whose room is its owner's.
  package let body: [UInt8]?

  /// Whether it is kept whole, so that it can be written again.
  package var canRetry: Bool { body != nil && !hasAttachments }

  /// How often the server will still write it again by itself. After that it waits for the person.
  package var retriesLeft: Int { canPass && canRetry ? max(0, Self.mostRetries - retries) : 0 }

  /// Whether the server may write it again now.
  func isDue(at now: Timestamp) -> Bool {
    retriesLeft > 0 && lastRetry.map { $0.adding(seconds: Self.retryPause) <= now } ?? true
  }

  /// The same after the server has written it again in vain.
  func retried(at now: Timestamp) -> RefusedRevision {
    var next = self
    (next.retries, next.lastRetry) = (retries + 1, now)
    return next
  }

  /// The same when the server writes it no more by itself.
  var parked: RefusedRevision {
    var next = self
    next.retries = Self.mostRetries
    return next
  }

  /// Whether it would bring a deleted document back: it did not see the deletion.
  func revives(in view: any StoreView) throws -> Bool {
    guard !isDeleted, let winner = try view.document(id) else { return false }
    return winner.isDeleted && !history.contains(winner.revision)
  }

  /// Whether it is not in a document's tree, or only with another body.
  func isMissing(in tree: RevisionTree?) -> Bool { collides || tree?[revision] == nil }

  /// Whether a device has sent it: one of the same name, or without a name one that describes itself the same way.
  package func isSent(by label: DeviceLabel?) -> Bool {
    label?.name == nil ? device == label : device?.name == label?.name
  }

  /// Why it was refused.
  var cause: Delivery.Cause { canPass ? .quota : lacksRight ? .noRight : .rejected }

  /// The same after a device has sent it once more.
  func sentAgain(after known: RefusedRevision?) -> RefusedRevision {
    guard let known, known.revision == revision else { return self }
    var next = self
    (next.attempts, next.retries) = (known.attempts + 1, known.retries)
    next.lastRetry = known.lastRetry
    return next
  }

  /// Why it is not there, and what happens to it.
  var explanation: String {
    guard canPass || (lacksRight && !canRetry) else { return reason }
    // Nothing tells whether the reason still holds.
    let words = ". That was at \(time.rfc3339): send it again from the device if it has changed"
    guard canRetry else { return reason + words }
    guard retriesLeft > 0 else {
      return reason + ". It waits until you send it again, change it or drop it"
    }
    return reason + ". The server tries again when something was deleted"
  }

  /// The longest body that is kept in a store, -1 for none; nil for a store that has no ledger.
  static func longestBody(in store: DocumentStore) -> Int? {
    switch store.name {
    case .guest, .user: min(mostBytes, Int(clamping: store.quota.bytes / leastShare))
    case .list: -1
    case .named, .system, .staged: nil
    }
  }
}

extension RefusedRevision {
  /// How many ancestors are kept with it.
  private static let ancestors = 20

  /// The refusal of a write.
  /// - Parameter history: the revision's, newest first.
  /// - Parameter longestBody: the most bytes of a body that is kept; -1 for none.
  init?(of write: DocumentWrite, _ history: [RevisionID], _ refusal: Refusal, longestBody: Int) {
    guard let revision = history.first else { return nil }
    (id, self.revision, isDeleted) = (write.id, revision, write.isDeleted)
    self.history = Array(history.prefix(Self.ancestors + 1))
    (error, reason) = (refusal.word, refusal.reason)
    (time, attempts, device) = (refusal.time, 1, refusal.device)
    body = write.body.bytes.count <= longestBody ? write.body.bytes : nil
    (canPass, hasAttachments) = (refusal.canPass, !write.attachments.isEmpty)
    (lacksRight, collides) = (refusal.lacksRight, refusal.collides)
  }

  init?(_ note: LocalDocument) {
    guard let root = try? ParsedJSON(note.body, limits: .stored).root,
      let id = root["id"]?.string, let error = root["error"]?.string
    else { return nil }
    let history = root["revisions"]?.elements.compactMap { node in
      node.string.flatMap { try? RevisionID($0) }
    }
    guard let history, let revision = history.first else { return nil }
    (self.id, self.revision, self.history) = (DocumentID(stored: id), revision, history)
    (self.error, reason) = (error, root["reason"]?.string ?? "")
    (isDeleted, canPass) = (root["deleted"]?.bool ?? false, root["canPass"]?.bool ?? false)
    hasAttachments = root["attachments"]?.bool ?? false
    lacksRight = root["noRight"]?.bool ?? false
    collides = root["collides"]?.bool ?? false
    time = Timestamp(milliseconds: Int64(root["at"]?.int ?? 0))
    attempts = root["attempts"]?.int ?? 1
    retries = root["retries"]?.int ?? 0
    lastRetry = root["retriedAt"]?.int.map { Timestamp(milliseconds: Int64($0)) }
    device = DeviceLabel(name: root["device"]?.string, agent: root["agent"]?.string)
    body = root["body"]?.minified
  }

  /// The edit that keeps it as a note.
  func edit(in id: LocalID) -> LocalEdit {
    LocalEdit(id, LocalDocument(revision: time.milliseconds, body: json), expires: expires)
  }

  private var json: [UInt8] {
    return JSONWriter.object(reserving: (body?.count ?? 0) + 512) { writer in
      writer.member("id", id.text)
      writer.array("revisions", of: history) { $1.revision($0) }
      writer.member("deleted", isDeleted)
      writer.member("error", error)
      writer.member("reason", reason)
      writer.member("canPass", canPass)
      if hasAttachments { writer.member("attachments", true) }
      if lacksRight { writer.member("noRight", true) }
      if collides { writer.member("collides", true) }
      writer.member("at", Int(clamping: time.milliseconds))
      writer.member("attempts", attempts)
      if retries > 0 { writer.member("retries", retries) }
      if let lastRetry { writer.member("retriedAt", Int(clamping: lastRetry.milliseconds)) }
      if let name = device?.name { writer.member("device", name) }
      if let agent = device?.agent { writer.member("agent", agent) }
      if let body { writer.member("body", raw: body) }
    }
  }

  /// When the note expires.
  private var expires: Timestamp { time.adding(seconds: Self.keptDays * Self.secondsOfDay) }

  /// The prefix of a person's notes; nil for who is no person.
  static func folder(of author: Author) -> String? {
    switch author {
    case .guest(let id), .user(let id): LocalID.refused(by: id)
    case .administrator, .server: nil
    }
  }

  static func note(of id: DocumentID, below folder: String) -> LocalID {
    LocalID(stored: folder + Hex.digest(of: id.text, digits: 32))
  }

  /// The refused revision of a document; nil when there is none.
  static func find(
    _ id: DocumentID, by author: Author, in view: any StoreView
  ) throws -> RefusedRevision? {
    guard let folder = folder(of: author) else { return nil }
    return try view.local(note(of: id, below: folder)).flatMap(RefusedRevision.init)
  }
}
