import Documents
import NIOConcurrencyHelpers

/// Gives stores the bytes that count for an account: those of a list count for its owner. The sum over an
/// account's stores is looked at only when one of them needs more than it was given, so a write costs nothing more.
package struct RoomGiver: Sendable {
  /// What a store was given.
  package struct Given: Sendable {
    /// The bytes that it may have.
    let bytes: Int64
    /// Whether the account is nearly full. Written documents then keep no bodies of ancestors, so that deletions make
    /// room, as in a store that is nearly full (``StoreLimits/fillingPercent``).
    let isNearlyFull: Bool

    package init(bytes: Int64, isNearlyFull: Bool = false) {
      (self.bytes, self.isNearlyFull) = (bytes, isNearlyFull)
    }
  }

  /// Whether a store's bytes are given to it.
  let concerns: @Sendable (StoreName) -> Bool
  /// Records how many bytes a store may have, and gives back what it does not need.
  let give:
    @Sendable (_ stores: DatabaseManager, _ name: StoreName, _ bytes: Int64) async throws -> Given

  /// Creates a giver.
  /// - Parameter give: gets the bytes that a store needs, and returns at least as many; with 0 it tells what the store
  ///   has. It throws `quotaExceeded` when the account does not have them.
  package init(
    concerns: @escaping @Sendable (StoreName) -> Bool,
    give: @escaping @Sendable (DatabaseManager, StoreName, Int64) async throws -> Given
  ) {
    self.concerns = concerns
    self.give = give
  }

  /// Every store has the bytes of its own limits.
  package static let none = RoomGiver(
    concerns: { _ in false }, give: { _, _, bytes in Given(bytes: bytes) })
}

/// The bytes that were given to one open store.
package final class StoreRoom: Sendable {
  /// What each document, tombstone, local document and kept answer counts besides its body.
  package static let rowBytes: Int64 = 256
  /// Stores get bytes in steps of so many: 256 KiB.
  package static let stepBytes: Int64 = 256 << 10
  /// For how long a node relies on what it was given, in seconds: 1 minute. Another node may have given it back
  /// meanwhile.
  static let knownSeconds: Int64 = 60

  /// An update needs more bytes than the store was given.
  struct Needed: Error {
    let bytes: Int64
  }

  /// What was given, and until when that is relied on.
  private let known = NIOLockedValueBox<(given: RoomGiver.Given, end: Timestamp)?>(nil)
  private let give: @Sendable (Int64) async throws -> RoomGiver.Given

  init(give: @escaping @Sendable (Int64) async throws -> RoomGiver.Given) { self.give = give }

  /// The bytes that count of a store: of documents, attachments, members' local documents and kept answers.
  package static func bytes(of view: any StoreView) throws -> Int64 {
    let info = try view.info()
    let answers = try AnswerLedger(below: AnswerKeys.allSums, in: view)
    let rows = info.documentCount + info.deletedCount + answers.count
    return try info.storedBytes + view.attachmentBytes() + rowBytes * rows + answers.bytes
      + ByteTotal(view.local(.localTotal)).bytes
  }

  /// What a store is given that needs so many bytes: an eighth more, in whole steps.
  package static func rounded(_ bytes: Int64) -> Int64 {
    let wanted = bytes + max(stepBytes, bytes / 8)
    return (wanted + stepBytes - 1) / stepBytes * stepBytes
  }

  /// Checks an update, and decides whether its documents keep history. What makes the store smaller is never refused. The
  /// content of the whole store, with histories, tombstones, local documents and indexes, may take
  /// ``StoreLimits/overallFactor`` times what it was given, as it may of a limit.
  /// - Returns: the bytes of a store that was given much more than it needs; nil for any other.
  /// - Throws: ``Needed``.
  func check(_ changes: inout StoreChanges, at moment: Timestamp) throws -> Int64? {
    guard
      !changes.mutations.isEmpty || !changes.purges.isEmpty || changes.attachedBytes > 0
        || changes.sharedBytes != 0
    else { return nil }
    let bytes = try Self.bytes(of: changes.view)
    let grows =
      try changes.attachedBytes > 0 || changes.sharedBytes > 0
      || Quota.grows(changes.mutations, in: changes.view)
    let needed =
      bytes + changes.attachedBytes + changes.sharedBytes + Quota.longest(changes.mutations)
      + Self.rowBytes * Int64(changes.mutations.count)
    guard let known = known.withLockedValue({ $0 }), moment < known.end else {
      throw Needed(bytes: grows ? needed : 0)
    }
    let given = known.given.bytes
    if known.given.isNearlyFull { changes.keepsHistory = false }
    guard grows else { return given > 2 * Self.rounded(bytes) ? max(1, bytes) : nil }
    guard needed <= given else { throw Needed(bytes: needed) }
    guard try changes.view.holds(moreThan: given * StoreLimits.overallFactor) else { return nil }
    throw Needed(bytes: given * 2)
  }

  /// Asks for bytes.
  /// - Throws: `quotaExceeded`.
  func ask(for bytes: Int64, at moment: Timestamp) async throws {
    let end = moment.adding(seconds: Self.knownSeconds)
    let answer = try await give(bytes)
    known.withLockedValue { $0 = (answer, end) }
  }
}
