import NIOCore

/// The account of bodies in memory; see ``RequestHold``.
extension ExchangeGuard {
  /// Accounts for the body that is on its way, which is that of the request that came last.
  /// - Parameter count: the bytes that have come.
  /// - Returns: whether there is memory for it.
  func holdsBody(_ count: Int) -> Bool {
    // One that is answered already is read past.
    guard count > RequestHold.freeBytes, outstanding > 1 || !hasAnswer, !asked.isEmpty else {
      return true
    }
    let last = asked.index(before: asked.endIndex)
    guard asked[last].hold.take(count - asked[last].sentBytes) else { return false }
    asked[last].sentBytes = count
    return true
  }

  /// Forgets the oldest request and its body.
  func forgetFirst() {
    _ = asked.popFirst()
    connection?.outstanding = asked.count
  }

  /// Forgets all requests but the oldest ones, and their bodies.
  func forgetRequests(behind count: Int) {
    while asked.count > count { _ = asked.popLast() }
    connection?.outstanding = asked.count
  }
}
