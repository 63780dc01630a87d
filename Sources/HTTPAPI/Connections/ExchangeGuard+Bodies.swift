import NIOCore

/// The account of bodies in memory.
extension ExchangeGuard {
  /// Accounts for the body that is on its way, which is that of the request that came last.
  /// - Parameter count: the bytes that have come.
  /// - Returns: whether there is memory for it.
  func holdsBody(_ count: Int) -> Bool {
    // One that is answered already is read past.
    guard count > Self.freeBytes, outstanding > 1 || !hasAnswer, !asked.isEmpty else { return true }
    let last = asked.index(before: asked.endIndex)
    guard admission.take(count - asked[last].sentBytes) else { return false }
    asked[last].sentBytes = count
    return true
  }

  /// Accounts for the unpacked body of the request that is being answered.
  func hold(_ room: BodyRoom, _ promise: EventLoopPromise<Void>?) {
    guard !isOver, !hasAnswer, !asked.isEmpty else {
      promise?.fail(ConnectionProblem.overloaded)
      return
    }
    let more = room.bytes - asked[asked.startIndex].unpackedBytes
    guard more <= 0 || admission.take(more) else {
      promise?.fail(ConnectionProblem.overloaded)
      return
    }
    admission.give(-more)
    asked[asked.startIndex].unpackedBytes = room.bytes
    promise?.succeed()
  }

  /// Forgets the oldest request and its body.
  func forgetFirst() {
    guard let first = asked.popFirst() else { return }
    admission.give(first.sentBytes + first.unpackedBytes)
    connection?.outstanding = asked.count
  }

  /// Forgets all requests but the oldest ones, and their bodies.
  func forgetRequests(behind count: Int) {
    while asked.count > count, let last = asked.popLast() {
      admission.give(last.sentBytes + last.unpackedBytes)
    }
    connection?.outstanding = asked.count
  }
}
