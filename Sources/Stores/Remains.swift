package import Documents
import Lanes

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
    /// Answers to idempotency keys, and what else has a time at which it ends.
    case receipts
    /// Branches of lists of which a mark is left.
    case branches
    /// Documents of whose purged revisions marks are left. Those that go count as ``receipts``.
    case purges
  }

  /// What went.
  package var removed: [Kind: Int] = [:]
  /// What was left.
  package var kept: [Kind: Int] = [:]

  /// Nothing.
  package init() {}

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
  /// - Returns: how many went, and how many receipts of batches and purged documents' marks are left.
  /// - Throws: as ``update(_:_:)``; `ended`.
  package func removeExpired(at moment: Timestamp) async throws(StoreError) -> Remains {
    var remains = Remains()
    let limit = Self.expiredAtOnce
    while try await hasExpired(at: moment) {
      remains.removed[.receipts, default: 0] += try await update([]) { view throws(StoreError) in
        let ids = try view.expiredLocals(at: moment, limit: limit)
        return Decision(locals: ids.map { LocalEdit($0, nil) }, value: ids.count)
      }.value
      do { try await Slice.giveWay() } catch { throw .ended }
    }
    let kept = try await read { view throws(StoreError) in
      (
        receipts: Int(clamping: try view.localUsage(of: LocalID.batchPrefix).count),
        purges: Int(clamping: try view.localUsage(of: LocalID.purgedPrefix).count)
      )
    }
    (remains.kept[.receipts], remains.kept[.purges]) = (kept.receipts, kept.purges)
    return remains
  }

  private func hasExpired(at moment: Timestamp) async throws(StoreError) -> Bool {
    try await read { view throws(StoreError) in
      try !view.expiredLocals(at: moment, limit: 1).isEmpty
    }
  }
}
