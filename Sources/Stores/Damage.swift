package import Documents
import JSON
import Lanes
import Synchronization

/// A revision of a document whose body or history is not what was written and could not be computed back. Its bytes
/// are set aside in a local document, so that everything else goes on.
///
/// It is part of what a store tells about itself until somebody writes the document anew or ``keptSeconds`` have
/// passed.
package struct Damage: Sendable, Equatable {
  /// How long the bytes are kept: 90 days.
  package static let keptSeconds: Int64 = 90 * 86_400
  /// How many are told of at once, at most.
  package static let maximumNamed = 100

  /// The document; what is known of its id where that is damaged, too.
  package let id: String
  /// The revision that is lost, as it stood in the row.
  package let revision: String
  /// The revision that stands for the document since: an ancestor's body or another branch; nil for none.
  package let restored: RevisionID?
  /// When it was found.
  package let found: Timestamp

  /// A loss.
  package init(id: String, revision: String, restored: RevisionID?, found: Timestamp) {
    self.id = id
    self.revision = revision
    self.restored = restored
    self.found = found
  }
}

extension Damage {
  /// The local document that keeps the loss: one line of JSON, and behind it the bytes as they were found.
  package func note(with bytes: [UInt8]) -> LocalDocument {
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("id", id)
    writer.member("rev", revision)
    if let restored { writer.member("restored", restored.description) }
    writer.member("found", Int(found.milliseconds))
    writer.endObject()
    return LocalDocument(revision: 1, body: writer.bytes + [0x0A] + bytes)
  }

  /// Reads such a document; nil for any other.
  init?(_ note: LocalDocument) {
    let line = note.body.prefix { $0 != 0x0A }
    guard let root = try? ParsedJSON(Array(line), limits: .request).root,
      let id = root["id"]?.string, let revision = root["rev"]?.string,
      let found = root["found"]?.int
    else { return nil }
    self.init(
      id: id, revision: revision,
      restored: (root["restored"]?.string).flatMap { try? RevisionID($0) },
      found: Timestamp(milliseconds: Int64(found)))
  }

}

extension JSONWriter {
  /// The member `damaged`, for whom a store belongs to: what it has lost, by document.
  package mutating func damaged(_ damage: [Damage]) {
    name("damaged")
    beginArray()
    for loss in damage {
      beginObject()
      member("id", loss.id)
      member("rev", loss.revision)
      if let restored = loss.restored { member("restored", restored.description) }
      member("found", loss.found.rfc3339)
      endObject()
    }
    endArray()
  }
}

extension LocalID {
  /// What the ids of damage that was set aside start with.
  package static let damagePrefix = receiptPrefix + "damaged/"

  /// A place for bytes that are set aside.
  /// - Parameter number: the store's next sequence number then; `part` tells apart what has the same.
  package init(damage number: Int64, part: Int) {
    self.init(receipt: "damaged/\(number)-\(part)")
  }
}

extension StoreView {
  /// What the store has lost to damage and nobody has written anew, ``Damage/maximumNamed`` at most.
  package func damage() throws -> [Damage] {
    var notes: [Damage] = []
    // The byte after a slash is a nought.
    let range = DocumentRange(
      start: LocalID.damagePrefix, end: String(LocalID.damagePrefix.dropLast()) + "0")
    try locals(range) { _, note in
      if let damage = Damage(note) { notes.append(damage) }
      return notes.count < 2 * Damage.maximumNamed
    }
    var open: [Damage] = []
    for damage in notes where open.count < Damage.maximumNamed {
      // Only its history is lost.
      guard damage.restored?.description != damage.revision else { continue }
      let stands = try document(DocumentID(stored: damage.id))?.revision
      if stands == damage.restored { open.append(damage) }
    }
    return open
  }
}

/// What looking for damage in a store came to.
package struct Mending: Sendable, Equatable {
  /// Whether what can't be computed back is set aside, or left as it is.
  package enum Extent: Sendable {
    /// An older body, another branch or nothing takes the place of what is lost.
    case everything
    /// Only what loses nothing.
    case withoutLoss
  }

  /// Rows that are again what was written.
  package var mended = 0
  /// Revisions that were set aside.
  package var lost: [Damage] = []
  /// Bodies of ancestors, local documents and query indexes that were dropped: nobody needs the first, and clients
  /// and the service make the others anew.
  package var dropped = 0
  /// Rows that are damaged still.
  package var left = 0

  /// Nothing found.
  package init() {}

  /// Whether the store was changed.
  package var hasChanged: Bool { mended > 0 || !lost.isEmpty || dropped > 0 }
  /// How much damage there was.
  package var count: Int { mended + lost.count + dropped + left }

  /// Adds what was found elsewhere.
  package static func += (sum: inout Mending, other: Mending) {
    sum.mended += other.mended
    sum.lost += other.lost
    sum.dropped += other.dropped
    sum.left += other.left
  }
}

extension DocumentStore {
  /// Looks through the store, mends what is damaged and sets aside what can't be.
  ///
  /// The accounts' store is never guessed at: an older body could be an older password, and a name whose account was
  /// set aside would be free.
  @discardableResult
  package func mend(pause: Duration = .zero) async throws -> Mending {
    let extent = name == .system ? Mending.Extent.withoutLoss : .everything
    let mending = try await noting {
      try await storage.mend(extent, at: now(), pause: pause)
    }
    guard mending.hasChanged else { return mending }
    feed.wake()
    // What it could not do now, the next look at the document does; what was set aside stays so.
    if !mending.lost.isEmpty {
      try? await Author.$current.withValue(.server) {
        try await follower.restore(self, mending.lost)
      }
    }
    return mending
  }

  /// Puts together what follows from other documents, in a store that was made anew and lacks some; see ``mend(pause:)``.
  package func restoreLost() async throws {
    let lost = try await read { view in try view.damage() }
    guard !lost.isEmpty else { return }
    try await Author.$current.withValue(.server) { try await follower.restore(self, lost) }
  }

  /// Runs work, and once more where damage was in its way that could be mended.
  func mending<Value: Sendable>(
    _ work: () async throws -> Value
  ) async throws -> Value {
    do { return try await noting(work) } catch {
      guard await hasMended(after: error) else { throw error }
    }
    return try await noting(work)
  }

  /// Calls the engine, and takes note of errors after which the store is to be opened anew.
  func noting<Value: Sendable>(
    _ work: () async throws -> Value
  ) async throws -> Value {
    do { return try await work() } catch {
      health.note(error)
      throw error
    }
  }

  /// Whether damage was the reason for an error and is out of the way now. What belongs to the accounts waits for the
  /// scrub: to look through all of it for one log-in would be dear.
  func hasMended(after error: any Error) async -> Bool {
    guard ServiceError(error)?.code == .integrity, name != .system else { return false }
    return (try? await mend().hasChanged) ?? false
  }
}

/// Whether an open store has failed below since it was opened.
final class StorageHealth: Sendable {
  private let failed = Atomic<Bool>(false)

  /// Sound, as far as known.
  init() {}

  /// Whether something failed.
  var hasFailed: Bool { failed.load(ordering: .acquiring) }

  /// Takes note of an error that leaves the state in memory in doubt. After a failed fsync the
  /// system may have dropped the pages and call the next fsync a success, so only the disk's word
  /// counts.
  func note(_ error: any Error) {
    switch ServiceError(error)?.code {
    case .storage, .integrity, .damaged: failed.store(true, ordering: .releasing)
    default: break
    }
  }
}

/// What is kept for a time only, by kind: how much of it a piece of upkeep removed, and how much it left.
package struct Remains: Sendable, Equatable {
  /// A kind of thing that is kept for a time.
  package enum Kind: String, Sendable, CaseIterable {
    /// Guests' stores.
    case guests
    /// Notes that a guest has become a user's, or was erased, and receipts of what was taken over.
    case adoptions
    /// Tombstones of accounts, and of notes on stores that were to be erased.
    case names
    /// Kept answers to writes, and what else has a time at which it ends.
    case receipts
    /// Branches of lists of which a mark is left.
    case branches
    /// Documents of whose purged revisions marks are left. Those that go count as ``receipts``.
    case purges
    /// Documents that were forgotten for their age, in whole or in part; what is left are tombstones of any age.
    case tombstones
  }

  /// What went.
  package var removed: [Kind: Int] = [:]
  /// What was left.
  package var kept: [Kind: Int] = [:]

  /// What went and what was left.
  package init(removed: [Kind: Int] = [:], kept: [Kind: Int] = [:]) {
    (self.removed, self.kept) = (removed, kept)
  }

  /// Adds what another piece of upkeep did.
  package mutating func add(_ other: Remains) {
    removed.merge(other.removed, uniquingKeysWith: +)
    kept.merge(other.kept, uniquingKeysWith: +)
  }
}

extension DocumentStore {
  /// How many local documents one update removes at most.
  private static var expiredAtOnce: Int { 100 }

  /// Removes the local documents whose time is over. A store that is written to does so by itself; this is for one
  /// that is not.
  /// - Parameter moment: when they are over.
  /// - Returns: how many went, and how many kept answers and purged documents' marks are left.
  /// - Throws: as ``update(loading:_:)``; `ended`.
  package func removeExpired(at moment: Timestamp) async throws -> Remains {
    var remains = Remains()
    let limit = Self.expiredAtOnce
    while try await hasExpired(at: moment) {
      remains.removed[.receipts, default: 0] += try await update { changes in
        let ids = try changes.view.expiredLocals(at: moment, limit: limit)
        for id in ids { changes.write(LocalEdit(id, nil)) }
        return ids.count
      }
      try await Slice.giveWay()
    }
    let kept = try await read { view in
      (
        receipts: Int(clamping: try view.localUsage(of: LocalID.answerPrefix).count),
        purges: Int(clamping: try view.localUsage(of: LocalID.purgedPrefix).count)
      )
    }
    (remains.kept[.receipts], remains.kept[.purges]) = (kept.receipts, kept.purges)
    return remains
  }

  private func hasExpired(at moment: Timestamp) async throws -> Bool {
    try await read { view in
      try !view.expiredLocals(at: moment, limit: 1).isEmpty
    }
  }
}
