import Dispatch
import Foundation
import Lanes
import Testing

@Suite(.timeLimit(.minutes(60))) struct LaneTests {
  @Test func actorStaysOnTheThreadOfItsLane() async {
    let lane = Lane(name: "one-thread")
    let laneActor = LaneActor(on: lane)
    var threads: Set<UInt> = []
    var names: Set<String> = []
    for _ in 0..<100 {
      await Task.yield()
      threads.insert(await laneActor.thread())
      names.insert(await laneActor.threadName())
    }
    #expect(threads.count == 1)
    #expect(names == ["one-thread"])
    await lane.stop()
  }

  @Test func suspendedCallReturnsToItsLane() async {
    let lane = Lane(name: "return")
    let laneActor = LaneActor(on: lane)
    let names = await laneActor.threadNamesAroundASuspension()
    #expect(names == ["return", "return"])
    await lane.stop()
  }

  @Test func actorsOfOneLaneNeverRunAtOnce() async {
    let lane = Lane(name: "serial")
    let occupancy = Occupancy()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<20 {
        let laneActor = LaneActor(on: lane)
        for _ in 0..<20 {
          group.addTask {
            await laneActor.run {
              // `sched_yield` gives the process's other threads a chance to enter at the same time.
              occupancy.pass { sched_yield() }
            }
          }
        }
      }
    }
    #expect(occupancy.most == 1)
    #expect(occupancy.total == 400)
    await lane.stop()
  }

  @Test func jobsRunInTheOrderTheyCame() async {
    let lane = Lane(name: "order")
    let laneActor = LaneActor(on: lane)
    let order = await laneActor.orderOfTasks(count: 500)
    #expect(order == Array(0..<500))
    await lane.stop()
  }

  @Test func blockedLaneDoesNotDelayAnother() async {
    let slow = LaneActor(on: Lane(name: "slow"))
    let quick = LaneActor(on: Lane(name: "quick"))
    let isBlocked = DispatchSemaphore(value: 0)
    let mayGoOn = DispatchSemaphore(value: 0)
    async let blocking: Void = slow.run {
      isBlocked.signal()
      mayGoOn.wait()
    }
    // If one lane delayed the other, these calls would wait for ever, because only the last one releases the slow lane.
    await quick.run { isBlocked.wait() }
    for _ in 0..<100 { await quick.run {} }
    await quick.run { mayGoOn.signal() }
    await blocking
    await slow.stop()
    await quick.stop()
  }

  @Test func blockedLanesLeaveTheCooperativePoolFree() async {
    let lanes = LaneGroup(count: 16, name: "pool")
    let mayGoOn = DispatchSemaphore(value: 0)
    let blocked = DispatchSemaphore(value: 0)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<lanes.count {
        let laneActor = LaneActor(on: lanes.next())
        group.addTask {
          await laneActor.run {
            blocked.signal()
            mayGoOn.wait()
          }
        }
      }
      let witness = LaneActor(on: Lane(name: "witness"))
      await witness.run { for _ in 0..<lanes.count { blocked.wait() } }
      // There are more blocked lanes than threads in the pool. Only a task on the pool can release them.
      await Task.detached { for _ in 0..<lanes.count { mayGoOn.signal() } }.value
      await witness.stop()
    }
    await lanes.stop()
  }

  @Test func isolationIsKnownOnTheLaneAndNowhereElse() async {
    let lane = Lane(name: "isolated")
    let other = Lane(name: "other")
    #expect(lane.isIsolatingCurrentContext() == false)
    let laneActor = LaneActor(on: lane)
    await laneActor.run {
      #expect(lane.isIsolatingCurrentContext() == true)
      #expect(other.isIsolatingCurrentContext() == false)
      lane.preconditionIsolated()
      laneActor.assumeIsolated { #expect($0.lane === lane) }
    }
    #expect(lane.isSameExclusiveExecutionContext(other: lane))
    #expect(!lane.isSameExclusiveExecutionContext(other: other))
    await lane.stop()
  }

  @Test func stopRunsWhatWaits() async {
    let lane = Lane(name: "drain")
    let laneActor = LaneActor(on: lane)
    let occupancy = Occupancy()
    await laneActor.startTasks(count: 200) { occupancy.pass() }
    await lane.stop()
    #expect(occupancy.total == 200)
    await expectNoThread(named: "drain")
  }

  @Test func jobAfterStopStillRunsAndLeavesNoThread() async {
    let lane = Lane(name: "late")
    let laneActor = LaneActor(on: lane)
    await lane.stop()
    #expect(await laneActor.threadName() == "late")
    await lane.stop()
    #expect(await laneActor.threadName() == "late")
    await expectNoThread(named: "late")
  }

  @Test func laneMayBeStoppedFromItself() async {
    let lane = Lane(name: "self")
    let laneActor = LaneActor(on: lane)
    await laneActor.stop()
    await expectNoThread(named: "self")
  }

  @Test func idleLaneHasNoThread() async {
    let lane = Lane(name: "idle")
    #expect(ThreadNames.now().filter { $0 == "idle" } == [])
    await lane.stop()
  }

  @Test func stoppedLaneIsFreed() async {
    weak var freed: Lane?
    do {
      let lane = Lane(name: "freed")
      freed = lane
      let laneActor = LaneActor(on: lane)
      await laneActor.run {}
      await lane.stop()
    }
    while freed != nil { try? await Task.sleep(for: .milliseconds(1)) }
  }

  /// A stopped lane's thread has ended when `stop` returns. Its entry in `/proc` disappears a moment later.
  private func expectNoThread(named name: String) async {
    while ThreadNames.now().contains(name) { try? await Task.sleep(for: .milliseconds(1)) }
  }
}
