package import Documents
import Hotels

/// How long an answer of an upstream is good for, and for what.
///
/// Source: RFC 9111 (freshness), RFC 5861 (`stale-while-revalidate`, `stale-if-error`).
package struct Freshness: Sendable {
  /// Good as it is, in seconds: one minute.
  package var fresh: Int64 = 60
  /// Good as it is while a new one is fetched behind the scenes, in seconds of age: five minutes.
  package var whileRevalidating: Int64 = 300
  /// Good while the upstream does not answer, in seconds of age: a day.
  package var ifError: Int64 = 86_400
  /// How long "nothing found" is good for, in seconds: a catalogue that is being filled is soon asked again.
  /// It is never used for longer: an upstream's failure must not look like an empty list.
  package var empty: Int64 = 5

  /// The defaults.
  package init() {}

  /// What an answer of some age may be used for.
  package enum Verdict: Sendable, Equatable {
    /// It is the answer, for so many seconds more.
    case fresh(secondsLeft: Int64)
    /// It is the answer, and another is fetched meanwhile; so many seconds past its time.
    case stale(secondsOver: Int64)
    /// It is the answer if no other can be had; so many seconds past its time.
    case ifError(secondsOver: Int64)
    /// It is of no use.
    case expired
  }

  /// An answer's age at a moment, in seconds; negative when the clock was set back behind its birth.
  package static func age(of stored: Timestamp, at now: Timestamp) -> Int64 {
    now.seconds.subtractingReportingOverflow(stored.seconds).partialValue
  }

  /// Judges an answer. One that comes from the future by more than the time in which it is fresh is of an age
  /// that nobody knows, as the clock was set back: good only for want of another.
  package func judge(age: Int64, isEmpty: Bool) -> Verdict {
    guard age > -fresh else { return isEmpty ? .expired : .ifError(secondsOver: 0) }
    if isEmpty { return age < empty ? .fresh(secondsLeft: empty - max(0, age)) : .expired }
    if age < fresh { return .fresh(secondsLeft: fresh - max(0, age)) }
    if age < whileRevalidating { return .stale(secondsOver: age - fresh) }
    return age < ifError ? .ifError(secondsOver: age - fresh) : .expired
  }
}

/// What the cache did for an answer, as `Cache-Status` puts it (RFC 9211 section 2) behind the cache's name.
/// An answer is either a `hit`, for which nobody was asked, or was asked for (`fwd`); never both.
enum CacheNote {
  /// Why an upstream was asked (RFC 9211 section 2.2).
  enum Reason: String {
    /// Nothing was kept.
    case miss
    /// What was kept is past its time.
    case stale
  }

  /// Nobody was asked.
  /// - Parameter ttl: for how many seconds more the answer is fresh; negative when it is past its time.
  static func hit(ttl: Int64, detail: String? = nil) -> String {
    "hit; ttl=\(ttl)" + suffix(detail)
  }

  /// The upstream was asked and has answered.
  /// - Parameter isStored: whether its answer is kept.
  /// - Parameter isCollapsed: whether it was asked for another search that wanted the same.
  static func asked(_ reason: Reason, isStored: Bool, isCollapsed: Bool) -> String {
    "fwd=\(reason.rawValue)" + (isStored ? "; stored" : "") + (isCollapsed ? "; collapsed" : "")
  }

  /// An old answer is given for want of another.
  static func old(ttl: Int64, because error: SearchError) -> String {
    if error == .breakerOpen { return hit(ttl: ttl, detail: "breaker-open") }
    if error == .crowded { return hit(ttl: ttl, detail: "no-free-call") }
    if error == .yielded { return hit(ttl: ttl, detail: "upstream-recovering") }
    let cause =
      switch error.code {
      case .unavailable: "unavailable"
      case .timeout: "timeout"
      case .badAnswer: "bad-answer"
      }
    return "fwd=stale; ttl=\(ttl)" + suffix("upstream-" + cause)
  }

  private static func suffix(_ detail: String?) -> String { detail.map { "; detail=\($0)" } ?? "" }
}

extension SearchError {
  /// The upstream was not asked, because it has just come back and others ask it.
  static let yielded = SearchError(
    .unavailable, "Hotel search is busy right now.", detail: "left to others")
}
