import Synchronization

/// What one request holds of what ``Admission`` counts. It is given back when neither the connection nor the handler
/// has it any more: a client that hangs up ends its connection, and its handler takes memory and a place until that
/// has ended, too.
package final class RequestHold: Sendable {
  /// Bodies up to here cost no accounting, in bytes.
  static let freeBytes = 64 << 10

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

  /// Counts bytes of its body, as it was sent, unpacked or parsed.
  /// - Returns: whether there is memory for them.
  func take(_ count: Int) -> Bool {
    guard count > 0 else { return true }
    guard admission.take(count) else { return false }
    bytes.add(count, ordering: .relaxed)
    return true
  }

  /// Counts an answer that is being put together; one that is short costs no accounting.
  /// - Parameter count: the bytes that it has so far.
  /// - Returns: whether there is memory for them.
  func holdAnswer(_ count: Int) -> Bool {
    let held = answerBytes.load(ordering: .relaxed)
    guard count > max(held, RequestLimitHandler.pieceBytes) else { return true }
    guard admission.takeAnswer(count - held) else { return false }
    answerBytes.add(count - held, ordering: .relaxed)
    return true
  }

  /// Gives back what its answer took: the connection counts it from now on.
  func giveAnswer() { admission.giveAnswer(answerBytes.exchange(0, ordering: .relaxed)) }

  /// Takes over the place among the running requests from a connection that is gone.
  func takePlace() { hasPlace.store(true, ordering: .relaxed) }
}
