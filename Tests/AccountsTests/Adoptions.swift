import Stores
import Synchronization

/// Stands in for what carries bookmarks over: it notes who was carried where, and fails on demand.
final class Adoptions: Sendable {
  /// One guest carried into one user's store.
  struct Adoption: Sendable, Hashable {
    let guest: AccountID
    let user: AccountID
  }

  private struct State {
    var done: [Adoption] = []
    var failure: ServiceError?
    var isWhole = true
  }

  private let state = Mutex(State())

  /// What was carried, in order.
  var done: [Adoption] { state.withLock { $0.done } }

  /// Makes every later adoption fail, or none.
  func fail(with error: ServiceError?) { state.withLock { $0.failure = error } }

  /// Makes later adoptions leave something in the guest's store, or nothing.
  func leaveSomething(_ isLeft: Bool) { state.withLock { $0.isWhole = !isLeft } }

  /// Notes an adoption.
  /// - Returns: whether nothing was left.
  func adopt(_ guest: AccountID, _ user: AccountID) throws -> Bool {
    try state.withLock { state in
      if let failure = state.failure { throw failure }
      state.done.append(Adoption(guest: guest, user: user))
      return state.isWhole
    }
  }
}
