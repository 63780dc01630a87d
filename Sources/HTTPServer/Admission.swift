package import NIOCore
import Synchronization

/// Says which requests are begun: so many at once, fewer while the server falls behind, and no more bytes of
/// bodies and of answers on their way than memory is meant for. What is turned away costs next to nothing, so
/// that what was begun is finished in time however much is asked.
///
/// The bound follows how long work waits for a thread (``note(lag:)``): it shrinks by a quarter at a time once
/// that has been too long for a while, for a moment's stutter is no overload (RFC 8289, section 3.2), and
/// grows steadily while it is not, as TCP's congestion window does (RFC 5681).
///
/// The bound is for those who ask much: an address with at most ``fewRequests`` at once is let in up to the ceiling,
/// of which a sixteenth is kept for such. So nobody turns others away by asking for all there is.
package final class Admission: Sendable {
  /// How often the delay is measured, in milliseconds.
  package static let intervalMilliseconds = 100
  /// The delay that is still good, in milliseconds.
  package static let goodMilliseconds = 200
  /// How many measurements in a row have to be late before the bound shrinks.
  static let patience = 5
  /// The bound never shrinks below so many requests.
  static let minimum = 16
  /// By how many requests the bound grows in one interval.
  static let growth = 16

  /// How many requests at once of an address are few.
  static let fewRequests = 4

  private let ceiling: Int
  private let addresses = Mutex<[String: AddressShare]>([:])
  private let memory: Int
  private let answerMemory: Int
  private let bound: Atomic<Int>
  private let running = Atomic(0)
  private let refused = Atomic(0)
  private let bytes = Atomic(0)
  private let answers = Atomic(0)
  private let lateInARow = Atomic(0)

  /// An admission without requests.
  /// - Parameter atOnce: requests at once, at most.
  /// - Parameter memory: bytes of bodies at once.
  /// - Parameter answerMemory: bytes of answers at once.
  package init(
    atOnce: Int = RequestLimits.requestsAtOnce, memory: Int = RequestLimits.bodyMemoryBytes,
    answerMemory: Int = RequestLimits.answerMemoryBytes
  ) {
    ceiling = atOnce
    self.memory = memory
    self.answerMemory = answerMemory
    bound = Atomic(atOnce)
  }

  /// Requests that are being answered.
  package var runningCount: Int { running.load(ordering: .relaxed) }
  /// Requests that were turned away since the start.
  package var refusedCount: Int { refused.load(ordering: .relaxed) }
  /// How many may be answered at once now.
  package var currentBound: Int { bound.load(ordering: .relaxed) }
  /// Bytes of bodies in memory.
  package var heldBytes: Int { bytes.load(ordering: .relaxed) }
  /// Bytes of answers in memory that clients have not taken yet.
  package var answerBytes: Int { answers.load(ordering: .relaxed) }

  /// Begins a request; ``leave()`` has to follow if it may.
  /// - Parameter always: whether it is one that operators ask in just such moments.
  /// - Parameter address: what runs for where it comes from; nil where many people's requests come from there.
  func enter(always: Bool, from address: AddressShare? = nil) -> Bool {
    let count = running.add(1, ordering: .relaxed).newValue
    let own = address?.running.add(1, ordering: .relaxed).newValue
    if always || count <= most(own) { return true }
    leave(from: address)
    refused.add(1, ordering: .relaxed)
    return false
  }

  /// How many requests may run for another one to be begun.
  /// - Parameter own: how many run for its address.
  private func most(_ own: Int?) -> Int {
    let bound = bound.load(ordering: .relaxed)
    guard let own else { return bound }
    guard own > Self.fewRequests else { return ceiling }
    return min(bound, ceiling - (ceiling < 64 ? 0 : ceiling / 16))
  }

  /// Ends a request.
  func leave(from address: AddressShare? = nil) {
    running.subtract(1, ordering: .relaxed)
    guard let address else { return }
    // What runs on for a client that has gone counts until it has ended, with whoever comes again.
    if address.running.subtract(1, ordering: .relaxed).newValue == 0 { forget(address) }
  }

  /// A connection begins: what runs for its address.
  func share(of address: String) -> AddressShare {
    addresses.withLock { addresses in
      let share = addresses[address] ?? AddressShare(address)
      share.connections.add(1, ordering: .relaxed)
      addresses[address] = share
      return share
    }
  }

  /// A connection has ended.
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

  /// How many addresses are known.
  var addressCount: Int { addresses.withLock { $0.count } }

  /// Counts bytes of a body; ``give(_:)`` has to follow if there is room.
  func take(_ count: Int) -> Bool { take(count, of: bytes, upTo: memory) }

  /// Counts bytes of an answer; ``giveAnswer(_:)`` has to follow if there is room.
  func takeAnswer(_ count: Int) -> Bool { take(count, of: answers, upTo: answerMemory) }

  private func take(_ count: Int, of account: borrowing Atomic<Int>, upTo bound: Int) -> Bool {
    if account.add(count, ordering: .relaxed).newValue <= bound { return true }
    account.subtract(count, ordering: .relaxed)
    refused.add(1, ordering: .relaxed)
    return false
  }

  /// Gives bytes back.
  func give(_ count: Int) {
    if count > 0 { bytes.subtract(count, ordering: .relaxed) }
  }

  /// Gives bytes of an answer back.
  func giveAnswer(_ count: Int) {
    if count > 0 { answers.subtract(count, ordering: .relaxed) }
  }

  /// Takes a measurement: how much later than it wanted something ran that had nothing to do.
  package func note(lag: Duration) {
    let now = bound.load(ordering: .relaxed)
    let isLate = lag > .milliseconds(Self.goodMilliseconds)
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

/// What runs for an address, or a network of IPv6, at once.
final class AddressShare: Sendable {
  fileprivate let address: String
  fileprivate let running = Atomic(0)
  fileprivate let connections = Atomic(0)

  fileprivate init(_ address: String) { self.address = address }
}

/// What one request holds of what ``Admission`` counts. It is given back when neither the connection nor the handler
/// has it any more: a client that hangs up ends its connection, and its handler takes memory and a place until that
/// has ended, too.
package final class RequestHold: Sendable {
  /// Bodies up to here cost no accounting, in bytes.
  package static let freeBytes = 64 << 10

  private let admission: Admission
  private let address: AddressShare?
  private let bytes = Atomic(0)
  private let answerBytes = Atomic(0)
  private let hasPlace = Atomic(false)

  /// A request that holds nothing yet.
  init(_ admission: Admission, from address: AddressShare? = nil) {
    self.admission = admission
    self.address = address
  }

  deinit {
    admission.give(bytes.load(ordering: .relaxed))
    giveAnswer()
    if hasPlace.load(ordering: .relaxed) { admission.leave(from: address) }
  }

  /// What the request of a stream of HTTP/2 holds.
  /// - Throws: `ChannelError` for a stream that is gone already.
  package static func held(on channel: any Channel) async throws -> RequestHold? {
    try await channel.eventLoop.submit {
      try channel.pipeline.syncOperations.handler(type: RequestLimitHandler.self).hold
    }.get()
  }

  /// Another one, for what goes on when the request is answered. It has no place among the running requests.
  package func outlasting() -> RequestHold { RequestHold(admission) }

  /// Counts bytes of its body, as it was sent, unpacked or parsed.
  /// - Returns: whether there is memory for them.
  package func take(_ count: Int) -> Bool {
    guard count > 0 else { return true }
    guard admission.take(count) else { return false }
    bytes.add(count, ordering: .relaxed)
    return true
  }

  /// Gives back what its body took: nobody has it any more.
  package func giveBody() { admission.give(bytes.exchange(0, ordering: .relaxed)) }

  /// Counts an answer that is being put together; one that is short costs no accounting.
  /// - Parameter count: the bytes that it has so far.
  /// - Returns: whether there is memory for them.
  package func holdAnswer(_ count: Int) -> Bool {
    let held = answerBytes.load(ordering: .relaxed)
    guard count > max(held, RequestLimits.answerPieceBytes) else { return true }
    guard admission.takeAnswer(count - held) else { return false }
    answerBytes.add(count - held, ordering: .relaxed)
    return true
  }

  /// Gives back what its answer took: the connection counts it from now on.
  package func giveAnswer() { admission.giveAnswer(answerBytes.exchange(0, ordering: .relaxed)) }

  /// Takes over the place among the running requests from a connection that is gone.
  func takePlace() { hasPlace.store(true, ordering: .relaxed) }
}
