import Foundation
import Lanes

/// An actor that runs on a lane and reports the thread of its code.
actor LaneActor {
  let lane: Lane

  nonisolated var unownedExecutor: UnownedSerialExecutor { lane.asUnownedSerialExecutor() }

  init(on lane: Lane) {
    self.lane = lane
  }

  /// Runs `body`, which may block, on the lane.
  func run(_ body: @Sendable () -> Void) {
    body()
  }

  func thread() -> UInt {
    UInt(pthread_self())
  }

  /// The kernel's name of the thread that runs this.
  func threadName() -> String {
    ThreadNames.current()
  }

  /// The names of the threads before and after a call to another actor.
  func threadNamesAroundASuspension() async -> [String] {
    let before = threadName()
    await Task.detached {}.value
    return [before, threadName()]
  }

  /// Starts tasks on this actor while its lane is busy, so that all of them wait in the queue.
  func startTasks(count: Int, _ body: @escaping @Sendable () -> Void) {
    for _ in 0..<count {
      Task { self.run(body) }
    }
  }

  private var order: [Int] = []

  /// The order in which tasks run that were started on this actor in the order 0, 1, 2, ….
  func orderOfTasks(count: Int) async -> [Int] {
    let tasks = (0..<count).map { number in
      Task { self.order.append(number) }
    }
    for task in tasks { await task.value }
    return order
  }

  func stop() async {
    await lane.stop()
  }
}
