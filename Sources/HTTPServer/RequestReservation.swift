package import NIOCore
import Scheduling
import Synchronization

/// The memory and the slot that one request takes from ``Admission``. They are given back when neither the connection
/// nor the handler refers to this object: the handler may still run after the client has closed the connection.
package final class RequestReservation: MemoryAccount {
  /// Bodies up to this size, in bytes, are not accounted for, except those of HTTP/2 streams.
  package static let freeBytes = 64 << 10

  private let admission: Admission
  private let address: AddressShare?
  /// What the whole connection holds; nil for a request without one.
  private let connection: ConnectionShare?
  private let bytes = Atomic(0)
  private let answerBytes = Atomic(0)
  private let hasSlot = Atomic(false)
  private let bodyTime = Atomic(0)
  /// Whether it keeps the account of its address as a connection does.
  private let isDetached: Bool

  /// Makes a reservation without memory or slot.
  init(
    _ admission: Admission, from address: AddressShare? = nil,
    on connection: ConnectionShare? = nil, isDetached: Bool = false
  ) {
    self.admission = admission
    self.isDetached = isDetached
    if isDetached { address.map(admission.keep) }
    self.address = address
    self.connection = connection
  }

  deinit {
    releaseBody()
    releaseAnswer()
    if hasSlot.load(ordering: .relaxed) { admission.leave(from: address, on: connection) }
    if isDetached { address.map(admission.release) }
  }

  /// The reservation of the request of an HTTP/2 stream.
  /// - Throws: `ChannelError` for a stream that is already closed.
  package static func forStream(_ channel: any Channel) async throws -> RequestReservation? {
    try await channel.eventLoop.submit {
      try channel.pipeline.syncOperations.handler(type: RequestLimitHandler.self).reservation
    }.get()
  }

  /// How many milliseconds its body took to arrive; 0 without a body, and until all of it has come.
  package internal(set) var bodyMilliseconds: Int {
    get { bodyTime.load(ordering: .relaxed) }
    set { bodyTime.store(newValue, ordering: .relaxed) }
  }

  /// Makes another reservation for work that continues after the answer, when the connection may be gone. It counts for the
  /// same address, and has no slot among the running requests.
  package func detached() -> RequestReservation {
    RequestReservation(admission, from: address, isDetached: true)
  }

  /// Counts bytes of the request's body: as sent, unpacked or parsed.
  /// - Returns: whether there is memory for them.
  package func reserveBody(_ count: Int) -> Bool {
    guard count > 0 else { return true }
    guard admission.reserveBody(count, from: address, on: connection?.bodies) else { return false }
    bytes.add(count, ordering: .relaxed)
    return true
  }

  /// Gives back the bytes of the body, because nothing refers to it any more.
  package func releaseBody() {
    admission.releaseBody(
      bytes.exchange(0, ordering: .relaxed), from: address, on: connection?.bodies)
  }

  /// Counts an answer that is being built, or what it is made of. A short one counts only when it is written.
  /// - Parameter count: the bytes so far.
  /// - Returns: whether there is memory for them.
  package func reserveAnswer(_ count: Int) -> Bool {
    let held = answerBytes.load(ordering: .relaxed)
    guard count > max(held, RequestLimits.answerPieceBytes) else { return true }
    guard admission.reserveAnswer(count - held, from: address) else { return false }
    answerBytes.add(count - held, ordering: .relaxed)
    return true
  }

  /// Gives back the bytes of the answer, because the connection counts them from now on.
  package func releaseAnswer() {
    admission.releaseAnswer(answerBytes.exchange(0, ordering: .relaxed), from: address)
  }

  /// The account that paid for the last request of this HTTP/2 connection.
  var lastAccount: ProcessorAccount? {
    get { connection?.lastAccount.withLock { $0 } }
    set { connection?.lastAccount.withLock { $0 = newValue } }
  }

  /// Takes over the slot from a connection that is gone.
  func takeSlot() { hasSlot.store(true, ordering: .relaxed) }
}
