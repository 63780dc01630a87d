import Scheduling
import Synchronization

/// Decides which requests are admitted. It bounds the number of running requests, less while the server is overloaded,
/// and the bytes of bodies and answers in memory. A refusal costs almost nothing, so the server finishes in time what
/// it has admitted, even in a flood.
///
/// The bound follows how long work waits for a seat or a thread (``note(lag:)``). Each late measurement shrinks it by a
/// quarter, but only after ``patience`` of them in a row, because a short delay is no overload (RFC 8289, section 3.2).
/// It grows steadily otherwise, as TCP's congestion window does (RFC 5681).
///
/// The bound applies to addresses with many requests. An address with at most ``fewRequests`` at once is admitted up to
/// the ceiling, and a sixteenth of the ceiling is reserved for such addresses. So no address can exclude the others. A
/// connection may have as many requests as slots are free (as ``SharedMemory`` has it): so no HTTP/2 connection can
/// exclude the others of its address.
package final class Admission: Sendable {
  /// How often the delay is measured, in milliseconds.
  package static let intervalMilliseconds = 100
  /// The longest delay that does not count as late, in milliseconds, unless an operator sets another.
  package static let goodMilliseconds = 200
  /// How many measurements in a row have to be late before the bound shrinks.
  static let patience = 5
  /// The bound never shrinks below this number of requests.
  static let minimum = 16
  /// By how many requests the bound grows in one interval.
  static let growth = 16

  /// The number of requests at once that count as few for one address.
  static let fewRequests = 4

  private let ceiling: Int
  private let longestLag: Duration
  private let addresses = Mutex<[String: AddressShare]>([:])
  private let bodies: SharedMemory
  private let answers: SharedMemory
  private let bound: Atomic<Int>
  private let running = Atomic(0)
  private let refused = Atomic(0)
  private let lateInARow = Atomic(0)

  /// An admission without requests.
  /// - Parameter atOnce: requests at once, at most.
  /// - Parameter memory: bytes of bodies at once.
  /// - Parameter answerMemory: bytes of answers at once.
  /// - Parameter longestLag: the longest delay that does not count as late.
  package init(
    atOnce: Int = RequestLimits.requestsAtOnce, memory: Int = RequestLimits.bodyMemoryBytes,
    answerMemory: Int = RequestLimits.answerMemoryBytes,
    longestLag: Duration = .milliseconds(goodMilliseconds)
  ) {
    ceiling = atOnce
    self.longestLag = longestLag
    bodies = SharedMemory(memory)
    answers = SharedMemory(answerMemory)
    bound = Atomic(atOnce)
  }

  /// Requests that are being answered.
  package var runningCount: Int { running.load(ordering: .relaxed) }
  /// Requests that were refused since the start.
  package var refusedCount: Int { refused.load(ordering: .relaxed) }
  /// How many requests may be answered at once now.
  package var currentBound: Int { bound.load(ordering: .relaxed) }
  /// Bytes of bodies in memory.
  package var bodyBytes: Int { bodies.bytes }
  /// Bytes of answers in memory that clients have not taken yet.
  package var answerBytes: Int { answers.bytes }

  /// Admits a request if the bound allows it.
  /// - Parameter always: whether it is admitted in any case: operators need such requests during an overload.
  /// - Parameter address: the running requests of the client's address; nil for an address of many people.
  /// - Parameter connection: the running requests of an HTTP/2 connection; nil where requests follow each other.
  /// - Returns: whether it is admitted; then call ``leave(from:on:)`` when it ends.
  func enter(
    always: Bool, from address: AddressShare? = nil, on connection: ConnectionShare? = nil
  ) -> Bool {
    let count = running.add(1, ordering: .relaxed).newValue
    let own = address?.running.add(1, ordering: .relaxed).newValue
    let before = connection?.running.add(1, ordering: .relaxed).oldValue ?? 0
    if always || count <= most(own, before) { return true }
    leave(from: address, on: connection)
    refused.add(1, ordering: .relaxed)
    return false
  }

  /// How many requests may run, including the new one.
  /// - Parameter own: how many of them come from the same address, including the new one.
  /// - Parameter before: how many of them came on the same connection before the new one.
  private func most(_ own: Int?, _ before: Int) -> Int {
    let bound = bound.load(ordering: .relaxed)
    guard let own else { return bound - before }
    guard own > Self.fewRequests else { return ceiling }
    return min(bound, ceiling - (ceiling < 64 ? 0 : ceiling / 16)) - before
  }

  /// Ends a request.
  func leave(from address: AddressShare? = nil, on connection: ConnectionShare? = nil) {
    running.subtract(1, ordering: .relaxed)
    connection?.running.subtract(1, ordering: .relaxed)
    guard let address else { return }
    // A request whose client has gone counts until it ends, together with later requests of that address.
    if address.running.subtract(1, ordering: .relaxed).newValue == 0 { forget(address) }
  }

  /// Counts a new connection of an address.
  /// - Returns: the running requests of that address.
  func share(of address: String) -> AddressShare {
    addresses.withLock { addresses in
      let share = addresses[address] ?? AddressShare(address)
      share.connections.add(1, ordering: .relaxed)
      addresses[address] = share
      return share
    }
  }

  /// Counts work of an address that outlasts its connections as one more.
  func keep(_ share: AddressShare) { share.connections.add(1, ordering: .relaxed) }

  /// Counts the end of a connection.
  func release(_ share: AddressShare) {
    if share.connections.subtract(1, ordering: .relaxed).newValue == 0 { forget(share) }
  }

  /// Forgets an address that has neither a connection nor a request.
  private func forget(_ share: AddressShare) {
    guard share.connections.load(ordering: .relaxed) == 0 else { return }
    addresses.withLock { addresses in
      guard share.connections.load(ordering: .relaxed) == 0,
        share.running.load(ordering: .relaxed) == 0, addresses[share.address] === share
      else { return }
      addresses[share.address] = nil
    }
  }

  var addressCount: Int { addresses.withLock { $0.count } }

  /// Counts bytes of a body.
  /// - Parameter address: the account of the client's address; nil for an address of many people.
  /// - Returns: whether there is memory for them; then call ``releaseBody(_:from:on:)`` when they are freed.
  func reserveBody(
    _ count: Int, from address: AddressShare? = nil, on connection: HeldBytes? = nil
  ) -> Bool { noting(bodies.reserve(count, from: address?.bodies, on: connection)) }

  /// Counts bytes of an answer: what is being built, and what the client has not taken.
  /// - Parameter always: whether they are counted even if there is no memory for them.
  /// - Parameter address: the account of the client's address; nil for an address of many people.
  /// - Parameter connection: what the connection holds; nil for an answer that is being built.
  /// - Returns: whether there is memory for them; then call ``releaseAnswer(_:from:on:)`` when they are freed.
  func reserveAnswer(
    _ count: Int, always: Bool = false, from address: AddressShare? = nil,
    on connection: HeldBytes? = nil
  ) -> Bool {
    noting(answers.reserve(count, from: address?.answers, on: connection, always: always))
  }

  private func noting(_ isAdmitted: Bool) -> Bool {
    if !isAdmitted { refused.add(1, ordering: .relaxed) }
    return isAdmitted
  }

  func releaseBody(
    _ count: Int, from address: AddressShare? = nil, on connection: HeldBytes? = nil
  ) { bodies.release(count, from: address?.bodies, on: connection) }

  func releaseAnswer(
    _ count: Int, from address: AddressShare? = nil, on connection: HeldBytes? = nil
  ) { answers.release(count, from: address?.answers, on: connection) }

  /// Adjusts the bound to a measurement.
  /// - Parameter lag: how long a task that was due has waited for a thread.
  package func note(lag: Duration) {
    let now = bound.load(ordering: .relaxed)
    let isLate = lag > longestLag
    let late = isLate ? lateInARow.add(1, ordering: .relaxed).newValue : 0
    lateInARow.store(late, ordering: .relaxed)
    guard late == 0 || late >= Self.patience else { return }
    let next =
      isLate
      ? max(min(Self.minimum, ceiling), min(now, runningCount) * 3 / 4)
      : min(ceiling, now + Self.growth)
    bound.store(next, ordering: .relaxed)
  }
}

/// The running requests, the connections, and the bodies and answers in memory of one address, or of one IPv6 network.
final class AddressShare: Sendable {
  fileprivate let address: String
  fileprivate let running = Atomic(0)
  fileprivate let connections = Atomic(0)
  fileprivate let bodies = HeldBytes()
  fileprivate let answers = HeldBytes()

  var answerBytes: Int { answers.count }

  fileprivate init(_ address: String) { self.address = address }
}

/// The running requests of one HTTP/2 connection, and what all of its streams, or an HTTP/1 connection, hold.
final class ConnectionShare: Sendable {
  fileprivate let running = Atomic(0)
  /// The account that paid for the last request over HTTP/2.
  let lastAccount = Mutex<ProcessorAccount?>(nil)
  let bodies = HeldBytes()
  let answers = HeldBytes()
}
