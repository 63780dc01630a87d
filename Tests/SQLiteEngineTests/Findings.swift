import NIOConcurrencyHelpers
import SQLiteEngine

/// Collects the findings of a scrub.
final class Findings: Sendable {
  private let found = NIOLockedValueBox<[ScrubFinding]>([])

  var all: [ScrubFinding] { found.withLockedValue { $0 } }

  var reporter: ScrubReporter {
    ScrubReporter { finding in
      self.found.withLockedValue { $0.append(finding) }
    } progress: { _, _ in
    }
  }
}
