/// When a silent client of Couchbase Lite is asked whether it is there, and when it counts as gone.
///
/// Proxies close a connection on which nothing has passed for 60 seconds, in either direction. So the next question is due
/// by the last bytes of the client, the answer to a question included, and not by when the session began to wait.
struct LitePings: Sendable {
  /// How long a connection may be silent.
  static let silence = Duration.seconds(50)
  /// How often a client may leave a question without an answer.
  static let unanswered = 2

  /// What a session does at a time.
  enum Step: Sendable {
    case wait
    case ask
    /// The client is gone.
    case end
  }

  private var count = 0
  private var last: ContinuousClock.Instant

  /// No question yet.
  init(at now: ContinuousClock.Instant) { last = now }

  /// When the next step is due.
  /// - Parameter arrival: when the last bytes of the client came.
  func due(after arrival: ContinuousClock.Instant) -> ContinuousClock.Instant {
    max(arrival, last) + Self.silence
  }

  /// The step at a time.
  mutating func step(
    at now: ContinuousClock.Instant, after arrival: ContinuousClock.Instant
  ) -> Step {
    guard due(after: arrival) <= now else { return .wait }
    if arrival > last { count = 0 }
    guard count < Self.unanswered else { return .end }
    (count, last) = (count + 1, now)
    return .ask
  }
}
