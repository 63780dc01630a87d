import Synchronization

/// Work that many callers want at the same time and that is done once. A caller that asks for a key while its work
/// runs gets the same result. A caller that leaves does not cancel the work for the others.
package final class RequestCoalescer<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private let tasks = Mutex<[Key: Task<Value, Never>]>([:])

  package init() {}

  /// Joins the running work of a key, or starts it.
  /// - Returns: the result, and whether this call joined running work.
  package func run(
    _ key: Key, _ work: @escaping @Sendable () async -> Value
  ) async -> (value: Value, isJoined: Bool) {
    let (task, isJoined) = start(key, work)
    return (await Work.waiting { await task.value }, isJoined)
  }

  /// Starts the work of a key unless it is running, and does not wait for it.
  /// - Returns: whether it was started.
  @discardableResult
  package func startAlone(_ key: Key, _ work: @escaping @Sendable () async -> Value) -> Bool {
    !start(key, work).isJoined
  }

  private func start(
    _ key: Key, _ work: @escaping @Sendable () async -> Value
  ) -> (task: Task<Value, Never>, isJoined: Bool) {
    tasks.withLock { tasks in
      if let task = tasks[key] { return (task, true) }
      let task = Work.shared {
        let value = await work()
        self.tasks.withLock { $0[key] = nil }
        return value
      }
      tasks[key] = task
      return (task, false)
    }
  }
}
