/// Damage that a scrub found: one line for the operator. It contains no name, id or text of a person.
package struct ScrubFinding: Sendable, Equatable {
  /// The file's path, relative to the checked directory.
  package let file: String
  /// What is wrong with it.
  package let reason: String

  package init(file: String, reason: String) {
    self.file = file
    self.reason = reason
  }
}

/// The counts of what a scrub checked.
package struct ScrubCounts: Sendable, Equatable {
  /// The number of stores' files.
  package var stores = 0
  /// The number of documents, including tombstones.
  package var documents = 0
  /// The number of stored bodies: of winners, other leaves and ancestors.
  package var bodies = 0
  /// The bytes of these bodies.
  package var bytes = 0
  /// The number of findings.
  package var findings = 0

  /// Creates counts of zero.
  package init() {}

  /// Adds the counts of another scrub.
  package static func += (sum: inout ScrubCounts, other: ScrubCounts) {
    sum.stores += other.stores
    sum.documents += other.documents
    sum.bodies += other.bodies
    sum.bytes += other.bytes
    sum.findings += other.findings
  }
}

/// Receives a scrub's results while it runs.
package struct ScrubReporter: Sendable {
  /// Receives each finding at once.
  package let finding: @Sendable (ScrubFinding) -> Void
  /// Receives the number of stores that are checked, and the number of all stores.
  package let progress: @Sendable (_ done: Int, _ total: Int) -> Void

  package init(
    finding: @escaping @Sendable (ScrubFinding) -> Void,
    progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void
  ) {
    self.finding = finding
    self.progress = progress
  }
}
