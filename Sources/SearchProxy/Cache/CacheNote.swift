import Hotels

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
