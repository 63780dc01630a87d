import HTTPTypes
import Lanes

/// The words for requests that were ended early.
enum EndedWork {
  /// What a client is told.
  /// - Parameter work: the request's work.
  static func problem(_ reason: Work.Ending, _ work: Work) -> Problem {
    switch reason {
    case .overdrawn:
      Problem(
        .tooManyRequests, "overdrawn",
        "You have used more than your share of the server's time, and others wait; try again later",
        retryAfter: work.secondsUntilPaid)
    case .costly:
      Problem(
        .badRequest, "request_too_costly",
        "The request takes too long to answer; ask for less at a time. What was stored is stored")
    case .gone, .stopping:
      Problem(
        .serviceUnavailable, "unavailable", "The request was ended before it was answered",
        retryAfter: 1)
    }
  }

  /// What a request has cost, for `Server-Timing` (W3C Server Timing, section 2), in milliseconds.
  static func timing(_ work: Work) -> String {
    Slice.settle()
    return "cpu;dur=\(milliseconds(work.nanoseconds)), slice;dur=\(milliseconds(work.longestSlice))"
  }

  private static func milliseconds(_ nanoseconds: Int64) -> String {
    let microseconds = nanoseconds / 1_000
    let fraction = String(microseconds % 1_000)
    return "\(microseconds / 1_000)."
      + String(repeating: "0", count: 3 - fraction.utf8.count) + fraction
  }
}
