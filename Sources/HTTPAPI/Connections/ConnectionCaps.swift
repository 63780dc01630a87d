/// How many of each there may be, as an operator has set them.
package struct ConnectionCaps: Sendable, Equatable {
  /// Connections at once.
  package var total = RequestLimits.connections
  /// Connections at once from one address.
  package var perAddress = RequestLimits.connectionsPerAddress
  /// Whether this machine's own connections count for their address.
  package var countsLoopback = false
  /// Requests that are answered at once, at most.
  package var requestsAtOnce = RequestLimits.requestsAtOnce
  /// Bytes of bodies in memory, with what is made of them.
  package var bodyMemoryBytes = RequestLimits.bodyMemoryBytes
  /// Bytes of answers in memory that clients have not taken yet.
  package var answerMemoryBytes = RequestLimits.answerMemoryBytes

  /// The caps that ``RequestLimits`` names.
  package init() {}
}
