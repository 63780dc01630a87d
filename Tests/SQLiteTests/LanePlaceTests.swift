import Dispatch
import Foundation
import SQLite
import Testing

/// An actor that others may step into.
private actor Guest {
  let place: LanePlace
  private var count = 0

  nonisolated var unownedExecutor: UnownedSerialExecutor { place.asUnownedSerialExecutor() }

  init(on lane: Lane) { place = LanePlace(lane) }

  /// Counts on the lane.
  func add() { count += 1 }

  /// Counts on the caller's thread; nil when the actor is at work.
  nonisolated func addHere() -> Int? {
    place.stepIn {
      assumeIsolated { guest in
        guest.count += 1
        return guest.count
      }
    }
  }

  /// Keeps the lane until the gate opens.
  func hold(_ entered: DispatchSemaphore, _ gate: DispatchSemaphore) {
    entered.signal()
    gate.wait()
  }

  var total: Int { count }
}

@Suite(.timeLimit(.minutes(1))) struct LanePlaceTests {
  @Test func whoStepsInIsIsolatedToTheActor() async {
    let lane = Lane(name: "step-in")
    let guest = Guest(on: lane)
    #expect(guest.addHere() == 1)
    await guest.add()
    #expect(guest.addHere() == 3)
    await lane.stop()
  }

  @Test func nobodyStepsInWhileAJobRuns() async {
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
    #expect(guest.addHere() == 1)
    await lane.stop()
  }

  @Test func threadsThatStepInNeverMeetTheLaneOrEachOther() async {
    let lane = Lane(name: "meeting")
    let guest = Guest(on: lane)
    let steppedIn = await withTaskGroup(of: Int.self) { group in
      for _ in 0..<8 {
        group.addTask {
          var steps = 0
          for _ in 0..<1_000 {
            if guest.addHere() != nil { steps += 1 } else { await guest.add() }
          }
          return steps
        }
      }
      return await group.reduce(0, +)
    }
    // An increment would be lost where two were in at once.
    #expect(await guest.total == 8_000)
    #expect(steppedIn > 0)
    await lane.stop()
  }
}
