import NIOCore

/// The reads of one address on one event loop: the time that they have taken, and the connections whose bytes wait.
final class ReadFlow {
  /// What waits: somebody's single request must not wait for hundreds of handshakes and openings at the same address.
  enum Kind: Int, CaseIterable {
    /// Few bytes of a connection that has been used before.
    case request
    /// Few bytes of a new connection: a step of a handshake.
    case handshake
    /// Many bytes.
    case bulk

    /// The most bytes that are few.
    private static let fewBytes = 1 << 10
    /// A connection has been used before after this many reads, more than a handshake has.
    private static let fewReads = 4

    init(bytes: Int, after reads: Int) {
      self = bytes > Self.fewBytes ? .bulk : reads < Self.fewReads ? .handshake : .request
    }
  }

  /// Which kinds come first, one turn after the other. So none keeps another waiting for good.
  private static let order: [[Kind]] = [
    [.request, .handshake, .bulk], [.handshake, .request, .bulk],
    [.request, .handshake, .bulk], [.bulk, .request, .handshake],
  ]

  /// The address's open connections on the loop.
  var connections = 0
  /// The bytes that wait.
  var keptBytes = 0
  /// Whether it is among the flows that wait for their turn.
  var isListed = false
  /// Until when the time that it has used is no more than its share.
  private(set) var paidUntil = NIODeadline.uptimeNanoseconds(0)
  private var spent = TimeAmount.zero
  private var tick = 0
  private var waiting = Kind.allCases.map { _ in CircularBuffer<ReadTurnHandler>() }
  private var turn = 0

  /// Whether bytes of its connections wait.
  var isWaiting: Bool { waiting.contains { !$0.isEmpty } }

  /// Notes that it has used the loop.
  /// - Parameter sharers: among how many the loop's time is divided.
  /// - Parameter most: the longest time for which it owes.
  func use(
    _ cost: TimeAmount, in tick: Int, sharers: Int, until end: NIODeadline, most: TimeAmount
  ) {
    if tick != self.tick { (self.tick, spent) = (tick, .zero) }
    spent = spent + cost
    paidUntil = min(max(paidUntil, end - cost) + cost * sharers, end + most)
  }

  /// The time that it has used in a tick of the loop.
  func used(in tick: Int) -> TimeAmount { tick == self.tick ? spent : .zero }

  /// Adds a connection whose bytes wait.
  func append(_ connection: ReadTurnHandler, _ kind: Kind) {
    waiting[kind.rawValue].append(connection)
  }

  /// Removes the connection whose turn is next.
  func next() -> ReadTurnHandler? {
    defer { turn += 1 }
    for kind in Self.order[turn % Self.order.count] {
      if let next = waiting[kind.rawValue].popFirst() { return next }
    }
    return nil
  }
}
