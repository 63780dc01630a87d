/// The metadata of this module's log lines. None may hold what a person asked for.
enum UpstreamLogKey: String {
  /// The upstream's configured name.
  case upstream
  /// The code of a ``SearchError``.
  case code
  /// What the operator needs to know: words of this module or of the HTTP client.
  case detail
  /// What a circuit breaker changed to.
  case state
  /// A count of rows.
  case rows
}
