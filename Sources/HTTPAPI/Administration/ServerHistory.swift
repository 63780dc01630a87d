package import Documents

/// What the server did in the last hour: a sample for each ten seconds. The oldest is removed when there are too many.
/// It is a value without a clock.
package struct ServerHistory: Sendable {
  /// The time between samples, in seconds.
  package static let sampleSeconds = 10
  /// How many samples are kept: those of an hour.
  package static let maximumSamples = 360

  /// The counts since the start, and the present values.
  package struct Totals: Sendable, Equatable {
    /// Commits to stores.
    package var commits = 0
    /// Answers below 400.
    package var successes = 0
    /// Answers from 400 to 499.
    package var clientErrors = 0
    /// Answers from 500.
    package var serverErrors = 0
    /// Answers that report an exceeded limit, and connections and requests that were refused because of overload.
    package var limited = 0
    /// Processor time, in milliseconds.
    package var processorMilliseconds = 0
    /// Feeds that are open.
    package var feeds = 0
    /// Connections that are open.
    package var connections = 0
    /// Bytes of memory in use.
    package var memoryBytes = 0

    /// Makes totals of zero.
    package init() {}
  }

  /// The counts of one interval, and the values at its end.
  package struct Sample: Sendable, Equatable {
    /// When it was taken.
    package let at: Timestamp
    /// Counts since the previous sample; feeds, connections and memory at its end.
    package let counts: Totals
  }

  /// The samples, the oldest first.
  package private(set) var samples: [Sample] = []
  private var last: Totals?

  /// Adds the next sample. The first call only sets the starting point.
  package mutating func take(_ totals: Totals, at now: Timestamp) {
    defer { last = totals }
    guard let last else { return }
    var counts = totals
    for count in Self.grown {
      counts[keyPath: count] = totals[keyPath: count] - last[keyPath: count]
    }
    if samples.count >= Self.maximumSamples { samples.removeFirst() }
    samples.append(Sample(at: now, counts: counts))
  }

  /// The totals that grow from the start on. The others are present values.
  private static let grown: [any WritableKeyPath<Totals, Int> & Sendable] = [
    \.commits, \.successes, \.clientErrors, \.serverErrors, \.limited, \.processorMilliseconds,
  ]
}
