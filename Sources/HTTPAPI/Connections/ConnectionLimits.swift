package import NIOCore

/// The times and rates that a connection is held to.
package struct ConnectionLimits: Sendable {
  /// How long the head of a request may be on its way.
  package var header = TimeAmount.seconds(Int64(RequestLimits.headerSeconds))
  /// How long a body may pause.
  package var bodyGrace = TimeAmount.seconds(Int64(RequestLimits.bodyGraceSeconds))
  /// Bytes per second of a body.
  package var bodyRate = RequestLimits.bodyBytesPerSecond
  /// How long a body may be on its way.
  package var body = TimeAmount.seconds(Int64(RequestLimits.bodySeconds))
  /// From the end of a request to the beginning of its answer.
  package var answer = TimeAmount.seconds(Int64(RequestLimits.requestSeconds))
  /// How long a client may take nothing of an answer.
  package var stall = TimeAmount.seconds(Int64(RequestLimits.idleSeconds))
  /// Bytes per second that a client has to take of a long answer.
  package var answerRate = RequestLimits.answerBytesPerSecond
  /// How long a connection may go on once the server stops.
  package var stop = TimeAmount.seconds(Int64(RequestLimits.stopSeconds))
  /// How long what comes after the last answer is thrown away before the connection is cut.
  package var linger = TimeAmount.seconds(Int64(RequestLimits.lingerSeconds))

  /// The limits that ``RequestLimits`` names.
  package init() {}

  /// How often a busy connection is looked at: often enough that none of the limits is missed.
  var interval: TimeAmount {
    .nanoseconds(min(header, bodyGrace, body, answer, stall).nanoseconds / 2)
  }

  /// The time that so many bytes are good for at so many a second; a minute for more than can be said.
  static func time(for bytes: Int, at rate: Int) -> TimeAmount {
    let (product, overflow) = Int64(bytes).multipliedReportingOverflow(by: 1_000_000_000)
    return overflow ? .minutes(1) : .nanoseconds(product / Int64(max(1, rate)))
  }
}

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
