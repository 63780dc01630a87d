import SQLiteEngine
import Synchronization

/// What a scrub says.
final class Findings: Sendable {
  private let found = Mutex<[ScrubFinding]>([])

  var all: [ScrubFinding] { found.withLock { $0 } }

  var reporter: ScrubReporter {
    ScrubReporter { finding in
      self.found.withLock { $0.append(finding) }
    } progress: { _, _ in
    }
  }
}
