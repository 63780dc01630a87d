/// How many changes are read at a time. Batches grow while they are quick, and shrink when one is slow or too large, so
/// that a batch of long documents fits into memory and one of short documents is worth its requests.
struct BatchSize: Sendable, Equatable {
  /// The bounds; 500 as in CouchDB.
  static let bounds = 10...500
  /// A batch that takes less is quick, one that takes more is slow.
  static let quick = Duration.seconds(1)
  static let slow = Duration.seconds(10)

  private(set) var count = 100

  /// Notes how long a batch took.
  /// - Parameter isSplit: whether an answer was too large for it.
  mutating func note(_ duration: Duration, isSplit: Bool) {
    if isSplit || duration > Self.slow {
      count = max(Self.bounds.lowerBound, count / 2)
    } else if duration < Self.quick {
      count = min(Self.bounds.upperBound, count * 2)
    }
  }
}
