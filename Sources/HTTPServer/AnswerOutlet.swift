import NIOCore
import Synchronization

/// Writes the answers of one connection, or of an HTTP/2 stream, on its event loop. Its task begins the next answer only when
/// this one is written (``settle()``), so that nothing overtakes it.
final class AnswerOutlet: Sendable {
  let channel: any Channel
  let date: DateField
  private let writes: LoopWrites
  /// Parts that are on their way to the event loop, not yet seen by the channel.
  private let unwritten = Atomic(0)

  var unwrittenCount: Int { unwritten.load(ordering: .relaxed) }

  init(_ channel: any Channel, _ date: DateField, _ writes: PerEventLoop<LoopWrites>) {
    self.channel = channel
    self.date = date
    self.writes = writes[channel.eventLoop]
  }

  /// Does a write when it is its turn.
  func append(_ write: @escaping @Sendable () -> Void) {
    unwritten.add(1, ordering: .relaxed)
    writes.append { [self] in
      write()
      unwritten.subtract(1, ordering: .relaxed)
    }
  }

  /// Waits until all is written.
  func settle() async {
    guard unwrittenCount > 0 else { return }
    await withCheckedContinuation { continuation in writes.append { continuation.resume() } }
  }
}

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

/// A value for each event loop, made when it is first needed.
final class PerEventLoop<Value: Sendable>: Sendable {
  private let make: @Sendable (any EventLoop) -> Value
  private let all = Mutex<[ObjectIdentifier: Value]>([:])

  init(_ make: @escaping @Sendable (any EventLoop) -> Value) { self.make = make }

  subscript(loop: any EventLoop) -> Value {
    all.withLock { all in
      let value = all[ObjectIdentifier(loop)] ?? make(loop)
      all[ObjectIdentifier(loop)] = value
      return value
    }
  }
}
