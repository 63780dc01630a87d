package import Documents
import Scheduling
import Synchronization

/// A revision whose body or history was damaged and could not be restored from other data. Its bytes are
/// moved to a local document, so that the rest of the store stays usable.
///
/// A store reports the damage until the document is written again, or until ``keptSeconds`` have passed.
package struct Damage: Sendable, Equatable {
  /// How long the bytes are kept: 90 days.
  package static let keptSeconds: Int64 = 90 * 86_400
  /// How many cases of damage a store reports at most.
  package static let maximumNamed = 100

  /// The document's id; if the id is damaged too, the part that is known.
  package let id: String
  /// The lost revision, as it was stored.
  package let revision: String
  /// The revision that now is the winner: one with an ancestor's body, or another branch; nil when there is
  /// none.
  package let restored: RevisionID?
  package let found: Timestamp

  package init(id: String, revision: String, restored: RevisionID?, found: Timestamp) {
    self.id = id
    self.revision = revision
    self.restored = restored
    self.found = found
  }

  /// The local document that stores the damage: one line of JSON, then the damaged bytes.
  package func note(with bytes: [UInt8]) -> LocalDocument {
    let line = JSONWriter.object { writer in
      writer.member("id", id)
      writer.member("rev", revision)
      if let restored { writer.member("restored", restored.description) }
      writer.member("found", Int(found.milliseconds))
    }
    return LocalDocument(revision: 1, body: line + [0x0A] + bytes)
  }

  /// Reads such a local document; nil for any other.
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
  /// Writes the member `damaged` for the owner of a store: its lost revisions.
  package mutating func damaged(_ damage: [Damage]) {
    objects("damaged", of: damage) { loss, writer in
      writer.member("id", loss.id)
      writer.member("rev", loss.revision)
      if let restored = loss.restored { writer.member("restored", restored.description) }
      writer.member("found", loss.found.rfc3339)
    }
  }
}

extension LocalID {
  /// The prefix of the ids of local documents with damaged bytes.
  package static let damagePrefix = receiptPrefix + "damaged/"

  /// The id of a local document for damaged bytes.
  /// - Parameter number: the store's next sequence number at that time.
  /// - Parameter part: distinguishes documents with the same number.
  package init(damage number: Int64, part: Int) { self.init(receipt: "damaged/\(number)-\(part)") }
}

extension StoreView {
  /// The lost revisions of documents that were not written since; at most ``Damage/maximumNamed``.
  package func damage() throws -> [Damage] {
    // In ASCII `0` follows the slash.
    let range = DocumentRange.below(LocalID.damagePrefix)
    let notes = try localValues(range, atMost: 2 * Damage.maximumNamed) { _, note in Damage(note) }
    var open: [Damage] = []
    for damage in notes where open.count < Damage.maximumNamed {
      // The body was kept; only the history is lost.
      guard damage.restored?.description != damage.revision else { continue }
      let stands = try document(DocumentID(stored: damage.id))?.revision
      if stands == damage.restored { open.append(damage) }
    }
    return open
  }
}

extension DocumentStore {
  /// Checks the store, repairs damage, and moves aside what can't be repaired.
  ///
  /// In the accounts' store only repairs without loss are made: an older body could contain an older
  /// password, and the name of a lost account would be free for others.
  @discardableResult
  package func repair(pause: Duration = .zero) async throws -> RepairOutcome {
    let extent = name == .system ? RepairOutcome.Extent.withoutLoss : .everything
    var outcome = try await noting {
      try await storage.repair(extent, at: now(), pause: pause)
    }
    if outcome.hasChanged {
      subscriptions.wake(name)
      // The next read of the document does what could not be done now. An error here does not undo the repair.
      if !outcome.lost.isEmpty { try? await follower.restore(self, outcome.lost) }
    }
    // The slow check reads no attachment twice, unless a piece of one may be among what it has removed.
    if pause == .zero || outcome.dropped > 0 {
      outcome.lostAttachments += try await forgetIncompleteAttachments()
    }
    return outcome
  }

  /// Runs `work`. If damage made it fail and was repaired, runs it once more.
  func retryingAfterRepair<Value: Sendable>(
    _ work: () async throws -> Value
  ) async throws -> Value {
    do { return try await noting(work) } catch {
      guard await hasRepaired(after: error) else { throw error }
    }
    return try await noting(work)
  }

  /// Calls the engine, and records errors after which the store must be opened again.
  func noting<Value: Sendable>(_ work: () async throws -> Value) async throws -> Value {
    do { return try await work() } catch {
      health.note(error)
      throw error
    }
  }

  /// Whether an error was caused by damage that is now repaired. The accounts' store waits for the scrub
  /// instead: to check all of it for one login would take too long.
  func hasRepaired(after error: any Error) async -> Bool {
    guard ServiceError(error)?.code == .integrity, repairsDamage, name != .system else {
      return false
    }
    return (try? await repair().hasChanged) ?? false
  }
}

/// The result of a read; nil for what can't be read because it is damaged.
/// - Throws: all errors of the read but `integrity`.
package func unlessDamaged<Value>(_ read: () throws -> Value?) throws -> Value? {
  do { return try read() } catch {
    guard ServiceError(error)?.code == .integrity else { throw error }
    return nil
  }
}

/// Runs one of several steps that do not need one another.
/// - Returns: the step's failures. Damage that has ended the step is one of them.
/// - Throws: all other errors of the step.
package func failures(of step: () async throws -> [any Error]) async throws -> [any Error] {
  do { return try await step() } catch {
    guard ServiceError(error)?.code == .integrity else { throw error }
    return [error]
  }
}

/// Whether an open store has had a storage error since it was opened, and whether it is new.
final class StorageHealth: Sendable {
  private let failed = Atomic<Bool>(false)
  private let isNew: Atomic<Bool>

  /// Creates a state without errors.
  init(isNew: Bool) { self.isNew = Atomic(isNew) }

  /// Whether the store is new and this is the first call.
  func takeCreation() -> Bool { isNew.exchange(false, ordering: .relaxed) }

  var hasFailed: Bool { failed.load(ordering: .acquiring) }

  /// Records an error after which the state in memory may be wrong. After a failed fsync the system may drop
  /// the pages and report success for the next fsync, so the store must be read from disk again.
  func note(_ error: any Error) {
    switch ServiceError(error)?.code {
    case .storage, .integrity, .damaged: failed.store(true, ordering: .releasing)
    default: break
    }
  }
}

extension DocumentStore {
  /// How many local documents one update removes at most.
  private static var expiredAtOnce: Int { 100 }

  /// Removes the local documents that have expired. Writes to a store remove them too; this call is for a
  /// store without writes.
  /// - Parameter moment: the time at which they have expired.
  /// - Returns: how many were removed, and how many stored answers and marks of purged documents are left.
  /// - Throws: the errors of ``update(loading:as:answer:_:)``; `ended`.
  package func removeExpired(at moment: Timestamp) async throws -> Remains {
    var remains = Remains()
    let limit = Self.expiredAtOnce
    while try await hasExpired(at: moment) {
      remains.removed[.receipts, default: 0] += try await update(as: .server) { changes in
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
    try await read { view in try !view.expiredLocals(at: moment, limit: 1).isEmpty }
  }
}
