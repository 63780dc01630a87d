/// The result of a search for damage in a store.
package struct RepairOutcome: Sendable, Equatable {
  /// What a repair does with data that can't be restored.
  package enum Extent: Sendable {
    /// Moves damaged bytes aside; an older body, another branch or nothing takes the place of the lost
    /// revision.
    case everything
    /// Repairs only what can be repaired without loss.
    case withoutLoss
  }

  /// How many rows were restored.
  package var repaired = 0
  package var lost: [Damage] = []
  /// How many ancestors' bodies, local documents and query indexes were removed. No one needs the ancestors'
  /// bodies; clients and the service write the other two again.
  package var dropped = 0
  /// How many attachments lack some of their bytes. The store forgot them; their documents name them still.
  package var lostAttachments = 0
  /// How many documents the store had counted whose rows are gone.
  package var missing = 0
  /// How many rows are still damaged.
  package var left = 0

  package init() {}

  package var hasChanged: Bool {
    repaired > 0 || !lost.isEmpty || dropped > 0 || lostAttachments > 0 || missing > 0
  }

  /// Adds another result.
  package static func += (sum: inout RepairOutcome, other: RepairOutcome) {
    sum.repaired += other.repaired
    sum.lost += other.lost
    sum.dropped += other.dropped
    sum.lostAttachments += other.lostAttachments
    sum.missing += other.missing
    sum.left += other.left
  }
}
