/// The time limits for an upstream. Each starts with the step that it limits.
package struct UpstreamTimeouts: Sendable, Hashable {
  /// Making a connection, including name look-up and TLS: 300 ms, a few round trips across a continent.
  package var connect: Duration
  /// From the start of a request, including ``connect``, to the head of its answer: 800 ms, so that a second
  /// request fits into ``total``.
  package var firstByte: Duration
  /// A whole search, including redirects and second attempts, to the last byte: 2 s, about as long as a person
  /// waits for a list. It also ends an answer that arrives very slowly.
  package var total: Duration

  /// ``total`` unless an operator sets another, in milliseconds.
  package static let standardMilliseconds = 2_000

  /// The time limits of a search that may take this long: two fifths of it to the head of an answer, three twentieths
  /// to connect.
  package init(searching total: Duration) {
    self.init(connect: total * 3 / 20, firstByte: total * 2 / 5, total: total)
  }

  package init(
    connect: Duration = .milliseconds(300), firstByte: Duration = .milliseconds(800),
    total: Duration = .milliseconds(standardMilliseconds)
  ) {
    self.connect = connect
    self.firstByte = firstByte
    self.total = total
  }
}
