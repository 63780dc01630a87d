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

  /// The caps that ``RequestLimits`` names.
  package init() {}
}
