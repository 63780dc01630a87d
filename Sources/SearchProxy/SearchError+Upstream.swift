import AsyncHTTPClient
import Hotels
import NIOCore
import NIOHTTP1

extension SearchError {
  /// An upstream that can't be reached, or says that it can't answer.
  static func unavailable(_ detail: String) -> SearchError {
    SearchError(.unavailable, "Hotel search can't be reached right now.", detail: detail)
  }

  /// An upstream that takes too long.
  static func timeout(_ detail: String) -> SearchError {
    SearchError(.timeout, "Hotel search did not answer in time.", detail: detail)
  }

  /// An upstream whose answer makes no sense.
  static func badAnswer(_ detail: String) -> SearchError {
    SearchError(.badAnswer, "Hotel search gave an answer that can't be used.", detail: detail)
  }

  /// The meaning of what a client throws before the head of an answer is there: mostly that nobody
  /// answers.
  static func beforeHead(_ error: any Error) -> SearchError {
    if isTimeout(error) { return .timeout(describe(error)) }
    if error is HTTPParserError { return .badAnswer(describe(error)) }
    return .unavailable(describe(error))
  }

  /// The meaning of what a client throws while it reads content: somebody answered, but not to the
  /// end.
  static func afterHead(_ error: any Error) -> SearchError {
    isTimeout(error) ? .timeout(describe(error)) : .badAnswer(describe(error))
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
