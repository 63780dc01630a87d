package import NIOCore
import Scheduling

/// The time limits and rates of a connection.
package struct ConnectionLimits: Sendable {
  /// How long the head of a request may take to arrive.
  package var header = TimeAmount.seconds(Int64(RequestLimits.headerSeconds))
  /// How long a body may pause.
  package var bodyGrace = TimeAmount.seconds(Int64(RequestLimits.bodyGraceSeconds))
  /// Bytes per second at which a body has to arrive.
  package var bodyRate = RequestLimits.bodyBytesPerSecond
  /// How long a body may take to arrive, besides the time that its bytes take at ``bodyRate``.
  package var body = TimeAmount.seconds(Int64(RequestLimits.bodySeconds))
  /// How long a body may still take once the server stops.
  package var bodyAtStop = TimeAmount.seconds(Int64(RequestLimits.bodyAtStopSeconds))
  /// From the end of a request to the beginning of its answer.
  package var answer: TimeAmount
  /// How long a client may read nothing of an answer.
  package var stall = TimeAmount.seconds(Int64(RequestLimits.idleSeconds))
  /// Bytes per second at which a client has to read a long answer.
  package var answerRate = RequestLimits.answerBytesPerSecond
  /// How long a connection may continue once the server stops.
  package var stop = TimeAmount.seconds(Int64(RequestLimits.stopSeconds))
  /// How long the server discards what comes after the last answer, before it closes the connection. When it stops, it
  /// waits as long for the first request of a connection.
  package var linger = TimeAmount.seconds(Int64(RequestLimits.lingerSeconds))

  /// The values of ``RequestLimits``, with this time until an answer begins.
  package init(requestSeconds: Int = RequestLimits.requestSeconds) {
    answer = .seconds(Int64(requestSeconds))
  }

  /// How often the limits of a busy connection are checked: half the shortest of them, so that none is missed.
  var interval: TimeAmount {
    .nanoseconds(min(header, bodyGrace, bodyAtStop, body, answer, stall).nanoseconds / 2)
  }

  /// How long `bytes` may take at `rate` bytes a second; a minute if the number overflows.
  static func time(for bytes: Int, at rate: Int) -> TimeAmount {
    let (product, overflow) = Int64(bytes).multipliedReportingOverflow(by: 1_000_000_000)
    return overflow ? .minutes(1) : .nanoseconds(product / Int64(max(1, rate)))
  }
}

/// The caps that an operator can set.
package struct ConnectionCaps: Sendable, Equatable {
  /// Connections at once.
  package var total = RequestLimits.connections
  /// Connections at once from one address.
  package var perAddress = RequestLimits.connectionsPerAddress
  /// Whether connections from this machine count for their address.
  package var countsLoopback = false
  /// Requests that are answered at the same time.
  package var requestsAtOnce = RequestLimits.requestsAtOnce
  /// Bytes of bodies in memory, together with what the server makes of them.
  package var bodyMemoryBytes = RequestLimits.bodyMemoryBytes
  /// Bytes of answers in memory that clients have not taken yet.
  package var answerMemoryBytes = RequestLimits.answerMemoryBytes
  /// Seconds from the last byte of a request to the first byte of its answer.
  package var requestSeconds = RequestLimits.requestSeconds
  /// The processor time that a request may cost, in milliseconds.
  package var requestProcessorMilliseconds = Int(Work.standardLimit / 1_000_000)

  /// The values of ``RequestLimits``.
  package init() {}
}
