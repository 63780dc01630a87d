/// Counts of data with a limited life, by kind: what a run of maintenance removed, and what it left.
package struct Remains: Sendable, Equatable {
  /// A kind of data with a limited life.
  package enum Kind: String, Sendable, CaseIterable {
    case guests
    /// Notes that a guest has become a user's or was erased, and receipts of adoptions.
    case adoptions
    /// Tombstones of accounts, and of notes about stores to be erased.
    case names
    /// Stored answers to writes, and other local documents that expire.
    case receipts
    /// Closed branches of lists of which only a mark is kept.
    case branches
    /// Documents with marks of purged revisions. Removed ones count as ``receipts``.
    case purges
    /// Documents that were purged for their age, completely or in part. What is left counts tombstones of any
    /// age.
    case tombstones
  }

  package var removed: [Kind: Int] = [:]
  /// What was left.
  package var kept: [Kind: Int] = [:]

  package init(removed: [Kind: Int] = [:], kept: [Kind: Int] = [:]) {
    (self.removed, self.kept) = (removed, kept)
  }

  /// Adds the counts of another run.
  package mutating func add(_ other: Remains) {
    removed.merge(other.removed, uniquingKeysWith: +)
    kept.merge(other.kept, uniquingKeysWith: +)
  }
}
