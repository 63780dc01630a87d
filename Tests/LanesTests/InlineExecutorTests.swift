import Dispatch
import Foundation
import Lanes
import Testing

/// An actor whose code may also run on a caller's thread.
private actor InlineActor {
  let executor: InlineExecutor
  private var count = 0

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  init(on lane: Lane) { executor = InlineExecutor(lane) }

  /// Increments the count on the lane.
  func add() { count += 1 }

  /// Increments the count on the caller's thread; nil if the actor is running.
  nonisolated func addHere() -> Int? {
    executor.runIfIdle {
      assumeIsolated { inlineActor in
        inlineActor.count += 1
        return inlineActor.count
      }
    }
  }

  /// Increments the count on the caller's thread as soon as the actor is not running. An awaited job may still run
  /// for a moment after its caller continues.
  nonisolated func addHereSoon() async throws -> Int {
    while true {
      if let count = addHere() { return count }
      try await Task.sleep(for: .milliseconds(1))
    }
  }

  /// Blocks the lane until the semaphore is signalled.
  func hold(_ entered: DispatchSemaphore, _ released: DispatchSemaphore) {
    entered.signal()
    released.wait()
  }

  var total: Int { count }
}

@Suite(.timeLimit(.minutes(60))) struct InlineExecutorTests {
  @Test func callerThatRunsInlineIsIsolatedToTheActor() async throws {
    let lane = Lane(name: "inline")
    let inlineActor = InlineActor(on: lane)
    #expect(inlineActor.addHere() == 1)
    await inlineActor.add()
    let third = try await inlineActor.addHereSoon()
    #expect(third == 3)
    await lane.stop()
  }

  @Test func nobodyRunsInlineWhileAJobRuns() async throws {
    let lane = Lane(name: "taken")
    let inlineActor = InlineActor(on: lane)
    let (entered, released) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let holder = Task { await inlineActor.hold(entered, released) }
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        entered.wait()
        continuation.resume()
      }
    }
    #expect(inlineActor.addHere() == nil)
    released.signal()
    await holder.value
    let first = try await inlineActor.addHereSoon()
    #expect(first == 1)
    await lane.stop()
  }

  @Test func threadsThatRunInlineNeverMeetTheLaneOrEachOther() async {
    let lane = Lane(name: "meeting")
    let inlineActor = InlineActor(on: lane)
    await withTaskGroup { group in
      for _ in 0..<8 {
        group.addTask {
          for _ in 0..<1_000 where inlineActor.addHere() == nil { await inlineActor.add() }
        }
      }
    }
    // If two threads were inside at the same time, an increment could be lost.
    #expect(await inlineActor.total == 8_000)
    await lane.stop()
  }
}
