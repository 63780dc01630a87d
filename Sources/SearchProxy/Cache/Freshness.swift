package import Documents
import Hotels

/// How long an upstream's answer may be used, and under which conditions.
///
/// Source: RFC 9111 (freshness), RFC 5861 (`stale-while-revalidate`, `stale-if-error`).
package struct Freshness: Sendable {
  /// Age up to which an answer is used as it is, in seconds: 1 minute.
  package var fresh: Int64 = 60
  /// Age up to which an answer is used while a new one is fetched in the background, in seconds: 5 minutes.
  package var whileRevalidating: Int64 = 300
  /// Age up to which an answer is used while the upstream does not answer, in seconds: 1 day.
  package var ifError: Int64 = 86_400
  /// Age up to which an empty answer is used, in seconds. It is short because a catalogue may be about to be
  /// filled. An empty answer is never used longer, so that an upstream's failure does not look like an empty list.
  package var empty: Int64 = 5

  /// What an answer of a given age may be used for.
  package enum Verdict: Sendable, Equatable {
    /// It may be used for so many more seconds.
    case fresh(secondsLeft: Int64)
    /// It may be used, and a new one is fetched in the background. It has been stale for so many seconds.
    case stale(secondsOver: Int64)
    /// It may be used if the upstream does not answer. It has been stale for so many seconds.
    case ifError(secondsOver: Int64)
    /// It must not be used.
    case expired
  }

  /// The age of an answer in seconds; negative when the clock was set back to before it was cached.
  package static func age(of stored: Timestamp, at now: Timestamp) -> Int64 {
    now.seconds.subtractingReportingOverflow(stored.seconds).partialValue
  }

  /// Judges an answer. An answer whose time is in the future by at least ``fresh`` seconds has an unknown age,
  /// because the clock was set back. It is only used when the upstream does not answer, and not at all when it is
  /// empty.
  package func judge(age: Int64, isEmpty: Bool) -> Verdict {
    guard age > -fresh else { return isEmpty ? .expired : .ifError(secondsOver: 0) }
    if isEmpty { return age < empty ? .fresh(secondsLeft: empty - max(0, age)) : .expired }
    if age < fresh { return .fresh(secondsLeft: fresh - max(0, age)) }
    if age < whileRevalidating { return .stale(secondsOver: age - fresh) }
    return age < ifError ? .ifError(secondsOver: age - fresh) : .expired
  }
}

/// What the cache did for an answer, in the form of `Cache-Status` without the cache's name (RFC 9211 section 2).
/// An answer is either a `hit`, without a call to the upstream, or was forwarded (`fwd`), never both.
enum CacheNote {
  /// Why an upstream was asked (RFC 9211 section 2.2).
  enum Reason: String {
    /// Nothing was cached.
    case miss
    /// The cached answer is no longer fresh.
    case stale
  }

  /// The upstream was not asked.
  /// - Parameter ttl: how many more seconds the answer is fresh; negative when it is stale.
  static func hit(ttl: Int64, detail: String? = nil) -> String {
    "hit; ttl=\(ttl)" + suffix(detail)
  }

  /// The upstream was asked and has answered.
  /// - Parameter isStored: whether its answer is cached.
  /// - Parameter isCollapsed: whether the call was made for another search for the same.
  static func asked(_ reason: Reason, isStored: Bool, isCollapsed: Bool) -> String {
    "fwd=\(reason.rawValue)" + (isStored ? "; stored" : "") + (isCollapsed ? "; collapsed" : "")
  }

  /// An old answer is used because there is no other.
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
  /// The upstream was not asked, because it is recovering and enough other calls ask it.
  static let yielded = SearchError(
    .unavailable, "Hotel search is busy right now.", detail: "other calls test the upstream")
}
