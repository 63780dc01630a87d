import AsyncHTTPClient
import Hotels
import IPAddresses
import NIOCore
import NIOHTTP1
import NIOPosix

extension SearchError {
  /// Converts an HTTP client's error from before the head of an answer. It usually means that no server answers.
  static func beforeHead(_ error: any Error) -> SearchError {
    if isTimeout(error) { return .timeout(describe(error), mayRetry: isConnectTimeout(error)) }
    if let refusal = error as? AddressRefusal {
      return .unavailable("it led to address \(refusal.address), which is not allowed")
    }
    if error is HTTPParserError { return .badAnswer(describe(error)) }
    return .unavailable(describe(error), mayRetry: isConnectFailure(error))
  }

  /// Converts an HTTP client's error from reading the content. It means that the upstream answered, but not
  /// completely.
  static func afterHead(_ error: any Error) -> SearchError {
    isTimeout(error) ? .timeout(describe(error)) : .badAnswer(describe(error))
  }

  /// Whether no connection was made, or the other side had closed an idle one: no answer has begun.
  private static func isConnectFailure(_ error: any Error) -> Bool {
    error is NIOConnectionError || error as? HTTPClientError == .remoteConnectionClosed
  }

  private static func isConnectTimeout(_ error: any Error) -> Bool {
    if case ChannelError.connectTimeout = error { return true }
    return error as? HTTPClientError == .connectTimeout
  }

  private static func isTimeout(_ error: any Error) -> Bool {
    let timeouts: [HTTPClientError] = [
      .deadlineExceeded, .getConnectionFromPoolTimeout, .readTimeout, .tlsHandshakeTimeout,
      .writeTimeout,
    ]
    return isConnectTimeout(error) || (error as? HTTPClientError).map(timeouts.contains) == true
  }

  /// The text is limited because some errors quote what a server sent.
  private static func describe(_ error: any Error) -> String {
    String(String(describing: error).unicodeScalars.prefix(200).map(Character.init))
  }
}

/// The metadata keys of this module's log lines. None may contain what a person searched for.
enum UpstreamLogKey: String {
  /// The upstream's configured name.
  case upstream
  /// The code of a ``SearchError``.
  case code
  /// Details for the operator, from this module or the HTTP client.
  case detail
  /// The new state of a circuit breaker.
  case state
  /// A count of rows.
  case rows
}
