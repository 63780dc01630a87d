import NIOCore
import Synchronization

/// What waits to be written on one event loop, in its order.
///
/// NIO looks at no socket while a task is due at once. Tasks that answer requests one behind the other, on a few connections,
/// would keep the loop from everybody else's sockets until the last answer is written. So after ``longestRun`` the rest
/// waits until the loop has looked at them.
final class LoopWrites: Sendable {
  /// How long the loop writes before it looks at its sockets.
  static let longestRun = TimeAmount.milliseconds(2)

  private struct State {
    var waiting = CircularBuffer<@Sendable () -> Void>()
    /// Whether the loop is going to write what waits.
    var isDue = false
    /// When the present run began, and when its last write ended. After a pause another run begins.
    var began = NIODeadline.uptimeNanoseconds(0)
    var latest = NIODeadline.uptimeNanoseconds(0)
  }

  private let loop: any EventLoop
  private let clock: @Sendable () -> NIODeadline
  private let state = Mutex(State())

  /// - Parameter clock: tells the time that writes take.
  init(on loop: any EventLoop, clock: (@Sendable () -> NIODeadline)? = nil) {
    self.loop = loop
    self.clock = clock ?? { loop.now }
  }

  /// Does a write on the loop, behind those that wait.
  func append(_ write: @escaping @Sendable () -> Void) {
    let isFirst = state.withLock { state in
      defer { state.isDue = true }
      state.waiting.append(write)
      return !state.isDue
    }
    if isFirst { loop.execute { self.run() } }
  }

  private func run() {
    var isFirst = true
    while let write = next(isFirst) {
      write()
      isFirst = false
    }
  }

  /// - Returns: nil if nothing waits, or if the loop has to look at its sockets first.
  private func next(_ isFirst: Bool) -> (@Sendable () -> Void)? {
    let now = clock()
    let (next, isOver) = state.withLock { state -> ((@Sendable () -> Void)?, Bool) in
      if isFirst, now - state.latest >= ReadTurns.pause { state.began = now }
      state.latest = now
      if now - state.began >= Self.longestRun, !state.waiting.isEmpty { return (nil, true) }
      let next = state.waiting.popFirst()
      state.isDue = next != nil
      return (next, false)
    }
    if isOver { loop.scheduleTask(in: ReadTurns.pause) { self.run() } }
    return next
  }
}
