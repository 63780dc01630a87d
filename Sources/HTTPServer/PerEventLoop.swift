import NIOCore
import Synchronization

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
