import NIOConcurrencyHelpers

/// What readers have asked of a store in memory so far: for claims about costs.
package final class ReadCounter: Sendable {
  /// How often something was read.
  package struct Counts: Sendable, Equatable {
    /// States of the store that were looked at.
    package var states = 0
    /// Trees that were read.
    package var trees = 0
    /// Winners that were read by their ids.
    package var documents = 0
    /// Commits.
    package var commits = 0
  }

  private let state = NIOLockedValueBox(Counts())

  /// Nothing has been read.
  package init() {}

  /// What has been read.
  package var counts: Counts { state.withLockedValue { $0 } }

  func count(_ what: WritableKeyPath<Counts, Int>) {
    state.withLockedValue { $0[keyPath: what] += 1 }
  }
}
