package import Documents
import Stores

/// Where a document is on its way, and why.
package struct Delivery: Sendable, Equatable {
  /// How far it has come.
  package enum State: String, Sendable, CaseIterable {
    case pending
    case inTransit = "in_transit"
    case delivered
    case rejected
  }

  /// Why it is there.
  package enum Cause: String, Sendable, CaseIterable {
    /// The device has confirmed it.
    case delivered
    /// It is stored here.
    case stored
    /// The device is connected and has not confirmed it yet.
    case inTransit = "in_transit"
    /// The device has confirmed earlier changes only.
    case behindCheckpoint = "behind_checkpoint"
    /// So it is, and the device has not come for ``Delivery/longestAbsence``.
    case deviceNotSeen = "device_not_seen"
    /// The device has only sent changes so far.
    case sendsOnly = "sends_only"
    /// No device has sent it.
    case notSent = "not_sent"
    /// It is a draft, which stays with its author until it is published.
    case draft
    /// Another revision of the document won.
    case conflictLost = "conflict_lost"
    /// It was purged.
    case purged
    /// The device's software takes no such documents.
    case filtered
    /// The person may not write it, or not read it any more.
    case noRight = "no_right"
    /// There was no room for it.
    case quota
    /// It was refused for what it contains.
    case rejected
  }

  /// After how many seconds without a checkpoint a device counts as away: 14 days.
  static let longestAbsence: Int64 = 14 * 86_400

  package let state: State
  package let cause: Cause
  /// A sentence for the person.
  package let reason: String

  package init(_ state: State, _ cause: Cause, _ reason: String) {
    (self.state, self.cause, self.reason) = (state, cause, reason)
  }
}

/// What a store knows of one document.
package struct DeliveredDocument: Sendable {
  let id: DocumentID
  /// The winner; nil for a document that the store does not have.
  let winner: Document?
  /// The revision that is asked for; nil for the one that was refused, or else the winner.
  let revision: RevisionID?
  /// Whether the store has that revision.
  let isKnown: Bool
  /// Whether the store remembers that it was purged; without a revision, whether the document was.
  let isPurged: Bool
  /// Whether the winner is that revision or descends from it.
  let isWinning: Bool
  /// What was refused of the document and is still missing.
  let refused: RefusedRevision?

  /// Looks a document up.
  init(
    _ id: DocumentID, _ revision: RevisionID?, by author: Author, in view: any StoreView
  ) throws {
    let tree = try view.tree(id)
    (self.id, self.revision, winner) = (id, revision, try view.document(id))
    let isKnown =
      revision.map { tree?[$0] != nil || tree?.hasMark(of: $0) == true } ?? (tree != nil)
    let marks = isKnown ? PurgedRevisions() : try PurgeMarks(view).of(id)
    isPurged = revision.map(marks.knows) ?? (marks.latest != nil)
    self.isKnown = isKnown
    isWinning =
      revision.map { revision in
        tree?.winner.map { tree?.history(of: $0.revision).contains(revision) ?? false } ?? false
      } ?? true
    refused = try RefusedRevision.find(id, by: author, in: view).flatMap { refused in
      let isMissing = refused.isMissing(in: tree)
      return isMissing && (revision ?? refused.revision) == refused.revision ? refused : nil
    }
  }

  /// Whether the store has the document, and it is not deleted.
  package var isLive: Bool { winner.map { !$0.isDeleted } ?? false }
  /// The revision that is explained; nil when the store has none.
  package var shown: RevisionID? { revision ?? refused?.revision ?? winner?.revision }

  /// How it is in the store.
  package var here: Delivery {
    if let refused { return Delivery(.rejected, refused.cause, refused.explanation) }
    if isPurged {
      return Delivery(
        .rejected, .purged,
        "It was removed here for good (purged); a device that has it can't bring it back")
    }
    guard winner != nil, isKnown else {
      return Delivery(
        .pending, .notSent,
        "No device has sent it: it may wait on the device where it was made, or was never made")
    }
    guard isWinning else {
      return Delivery(
        .delivered, .conflictLost,
        "Another change of the same document won; this one is kept as a conflict or in the history")
    }
    return Delivery(
      .delivered, .stored,
      isLive ? "It is stored here" : "It was deleted, and the deletion is stored here")
  }

  /// How it is on a device.
  /// - Parameter isConnected: whether the device reads changes at present.
  /// - Parameter ahead: how many changes the device gets before it.
  package func delivery(
    to device: SyncDevice, isConnected: Bool, ahead: Int, at now: Timestamp
  ) -> Delivery {
    guard let winner, isKnown, refused == nil else { return here }
    if let reason = device.refusal(of: id, winner.revision) {
      return Delivery(.rejected, .filtered, reason)
    }
    guard let position = device.position else {
      return Delivery(
        .pending, .sendsOnly,
        "This device has sent changes, but has not fetched any that it confirmed")
    }
    guard winner.sequence > position else {
      let words = isLive ? "The device has it" : "The device has been told that it was deleted"
      return isWinning ? Delivery(.delivered, .delivered, words) : here
    }
    if isConnected {
      return Delivery(
        .inTransit, .inTransit, "The device is connected and has not confirmed it yet")
    }
    if now.seconds - device.seen.seconds > Delivery.longestAbsence {
      return Delivery(
        .pending, .deviceNotSeen, "The device was last seen at \(device.seen.rfc3339)")
    }
    return Delivery(
      .pending, .behindCheckpoint,
      "The device has confirmed earlier changes only. Changes that it gets before: \(ahead)")
  }
}
