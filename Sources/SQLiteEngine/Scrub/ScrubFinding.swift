/// Damage that a scrub found: one line for the operator, without a name, an id or a text of anybody's.
package struct ScrubFinding: Sendable, Equatable {
  /// The file, relative to what was looked through.
  package let file: String
  /// What is wrong with it.
  package let reason: String

  /// A finding.
  package init(file: String, reason: String) {
    self.file = file
    self.reason = reason
  }
}

/// What a scrub looked at.
package struct ScrubCounts: Sendable, Equatable {
  /// Stores' files.
  package var stores = 0
  /// Documents, tombstones among them.
  package var documents = 0
  /// Stored bodies: winners', and those of leaves that lost and of ancestors.
  package var bodies = 0
  /// Bytes of these bodies.
  package var bytes = 0
  /// Lines of damage.
  package var findings = 0

  /// Nothing yet.
  package init() {}

  /// Adds what another scrub looked at.
  package static func += (sum: inout ScrubCounts, other: ScrubCounts) {
    sum.stores += other.stores
    sum.documents += other.documents
    sum.bodies += other.bodies
    sum.bytes += other.bytes
    sum.findings += other.findings
  }
}

/// Takes what a scrub says while it runs.
package struct ScrubReporter: Sendable {
  /// Takes damage as it is found.
  package let finding: @Sendable (ScrubFinding) -> Void
  /// Takes how many stores are done, and of how many.
  package let progress: @Sendable (_ done: Int, _ total: Int) -> Void

  /// A reporter.
  package init(
    finding: @escaping @Sendable (ScrubFinding) -> Void,
    progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void
  ) {
    self.finding = finding
    self.progress = progress
  }
}
