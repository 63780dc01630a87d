import CLanes
import Glibc

/// The piece of work that the calling thread is at: whatever loops over something that a stranger sizes asks, in
/// each round, whether it is over, and gives way then.
///
/// ```swift
/// for document in documents {
///   try await Slice.giveWay()
///   …
/// }
/// ```
/// Where nothing may be waited for, as in a query over a store, the loop ends instead and is taken up again in the
/// next slice; see ``isOver``.
package enum Slice {
  /// How long a piece of work goes on before it gives way.
  package static let length = Duration.milliseconds(2)

  /// Whether the calling thread has worked long enough to give way, or works for nobody any more. Costs some
  /// nanoseconds; a loop asks in each round.
  package static var isOver: Bool {
    #if DEBUG
      if isShortest { return true }
    #endif
    return false
  }

  /// Gives way to others if the slice is over: others that wait for a processor go first where it is their turn.
  /// - Throws: ``WorkEnded`` when nobody waits for this work's result any more, or too many others wait.
  package static func giveWay() async throws(WorkEnded) {
    if isOver { await Task.yield() }
  }
}

/// Work goes no further: nobody waits for its result any more, or it may cost no more. Whoever began it knows why.
package struct WorkEnded: Error {
  package init() {}
}
