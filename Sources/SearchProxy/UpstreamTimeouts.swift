/// How long an upstream may take; each counts from the start of what it bounds.
package struct UpstreamTimeouts: Sendable, Hashable {
  /// Making a connection, name look-up and TLS included: 300 ms, a few round trips across a
  /// continent.
  package var connect: Duration
  /// From the start of a request, ``connect`` included, to the head of its answer: 800 ms, so that
  /// a second request still fits under ``total``.
  package var firstByte: Duration
  /// A whole search, redirects and second attempts included, to the last byte: 2 s, about as long
  /// as a person waits for a list; also what ends an answer that only drips.
  package var total: Duration

  /// Timeouts.
  package init(
    connect: Duration = .milliseconds(300), firstByte: Duration = .milliseconds(800),
    total: Duration = .seconds(2)
  ) {
    self.connect = connect
    self.firstByte = firstByte
    self.total = total
  }
}
