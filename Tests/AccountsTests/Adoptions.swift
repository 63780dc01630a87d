import Stores
import Synchronization

/// Replaces the code that copies bookmarks in an adoption: it records guests and users, and fails if a test says so.
final class Adoptions: Sendable {
  /// One guest whose bookmarks were copied to one user's store.
  struct Adoption: Sendable, Hashable {
    let guest: AccountID
    let user: AccountID
  }

  private struct State {
    var done: [Adoption] = []
    var failure: (any Error)?
    var isWhole = true
  }

  private let state = Mutex(State())

  /// The adoptions so far, in order.
  var done: [Adoption] { state.withLock { $0.done } }

  /// Makes every later adoption fail with this error; nil ends that.
  func fail(with error: (any Error)?) { state.withLock { $0.failure = error } }

  /// Sets whether later adoptions leave revisions behind in the guest's store.
  func leaveSomething(_ isLeft: Bool) { state.withLock { $0.isWhole = !isLeft } }

  /// Records an adoption.
  /// - Returns: whether everything was copied.
  func adopt(_ guest: AccountID, _ user: AccountID) throws -> Bool {
    try state.withLock { state in
      if let failure = state.failure { throw failure }
      state.done.append(Adoption(guest: guest, user: user))
      return state.isWhole
    }
  }
}
