import Hotels

extension SearchError {
  /// An upstream that can't be reached, or says that it can't answer.
  /// - Parameter mayRetry: whether a second attempt may find it there: it was not reached at all, or a
  ///   gateway spoke for it.
  static func unavailable(_ detail: String, mayRetry: Bool = false) -> SearchError {
    SearchError(
      .unavailable, "Hotel search can't be reached right now.", detail: detail, mayRetry: mayRetry)
  }

  /// An upstream that takes too long.
  static func timeout(_ detail: String, mayRetry: Bool = false) -> SearchError {
    SearchError(
      .timeout, "Hotel search did not answer in time.", detail: detail, mayRetry: mayRetry)
  }

  /// An upstream whose answer makes no sense.
  static func badAnswer(_ detail: String) -> SearchError {
    SearchError(.badAnswer, "Hotel search gave an answer that can't be used.", detail: detail)
  }
}
