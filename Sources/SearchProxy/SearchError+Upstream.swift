import AsyncHTTPClient
import Hotels
import NIOCore
import NIOHTTP1
import NIOPosix

extension SearchError {
  /// The meaning of what a client throws before the head of an answer is there: mostly that nobody
  /// answers.
  static func beforeHead(_ error: any Error) -> SearchError {
    if isTimeout(error) {
      return .timeout(describe(error), mayRetry: isConnectTimeout(error))
    }
    if let refusal = error as? AddressRefusal {
      return .unavailable("it led to address \(refusal.address), which is not allowed")
    }
    if error is HTTPParserError { return .badAnswer(describe(error)) }
    return .unavailable(describe(error), mayRetry: isConnectFailure(error))
  }

  /// The meaning of what a client throws while it reads content: somebody answered, but not to the
  /// end.
  static func afterHead(_ error: any Error) -> SearchError {
    isTimeout(error) ? .timeout(describe(error)) : .badAnswer(describe(error))
  }

  /// A connection that was not made, or that the other side had closed while it was idle: nobody has begun
  /// to answer.
  private static func isConnectFailure(_ error: any Error) -> Bool {
    error is NIOConnectionError || error as? HTTPClientError == .remoteConnectionClosed
  }

  private static func isConnectTimeout(_ error: any Error) -> Bool {
    if case ChannelError.connectTimeout = error { return true }
    return error as? HTTPClientError == .connectTimeout
  }

  private static func isTimeout(_ error: any Error) -> Bool {
    if case ChannelError.connectTimeout = error { return true }
    guard let error = error as? HTTPClientError else { return false }
    return [
      .connectTimeout, .deadlineExceeded, .getConnectionFromPoolTimeout, .readTimeout,
      .tlsHandshakeTimeout, .writeTimeout,
    ].contains(error)
  }

  /// Bounded, because some errors quote what a server sent.
  private static func describe(_ error: any Error) -> String {
    String(String(describing: error).unicodeScalars.prefix(200).map(Character.init))
  }
}

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
