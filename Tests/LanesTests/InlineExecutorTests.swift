import Dispatch
import Foundation
import Lanes
import Testing

/// An actor whose code may also run on a caller's thread.
private actor Guest {
  let executor: InlineExecutor
  private var count = 0

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  init(on lane: Lane) { executor = InlineExecutor(lane) }

  /// Increments the count on the lane.
  func add() { count += 1 }

  /// Increments the count on the caller's thread; nil if the actor is running.
  nonisolated func addHere() -> Int? {
    executor.runIfIdle {
      assumeIsolated { guest in
        guest.count += 1
        return guest.count
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

  /// Blocks the lane until the gate opens.
  func hold(_ entered: DispatchSemaphore, _ gate: DispatchSemaphore) {
    entered.signal()
    gate.wait()
  }

  var total: Int { count }
}

@Suite(.timeLimit(.minutes(5))) struct InlineExecutorTests {
  @Test func whoStepsInIsIsolatedToTheActor() async throws {
    let lane = Lane(name: "step-in")
    let guest = Guest(on: lane)
    #expect(guest.addHere() == 1)
    await guest.add()
    let third = try await guest.addHereSoon()
    #expect(third == 3)
    await lane.stop()
  }

  @Test func nobodyStepsInWhileAJobRuns() async throws {
    let lane = Lane(name: "taken")
    let guest = Guest(on: lane)
    let (entered, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let holder = Task { await guest.hold(entered, gate) }
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        entered.wait()
        continuation.resume()
      }
    }
    #expect(guest.addHere() == nil)
    gate.signal()
    await holder.value
    let first = try await guest.addHereSoon()
    #expect(first == 1)
    await lane.stop()
  }

  @Test func threadsThatStepInNeverMeetTheLaneOrEachOther() async {
    let lane = Lane(name: "meeting")
    let guest = Guest(on: lane)
    await withTaskGroup { group in
      for _ in 0..<8 {
        group.addTask {
          for _ in 0..<1_000 where guest.addHere() == nil { await guest.add() }
        }
      }
    }
    // If two threads were inside at the same time, an increment could be lost.
    #expect(await guest.total == 8_000)
    await lane.stop()
  }
}
