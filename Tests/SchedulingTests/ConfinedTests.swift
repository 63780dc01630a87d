import Dispatch
import Foundation
import Scheduling
import Testing

@Suite(.timeLimit(.minutes(60))) struct ConfinedTests {
  @Test func callsOfOneValueNeverRunAtOnce() async {
    let occupancy = Occupancy()
    await ThreadPool.with(name: "serial", threads: 4) { threads in
      let value = Confined(0, to: threads)
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<400 {
          group.addTask {
            await value.run { value in
              // `sched_yield` gives the process's other threads a chance to enter at the same time.
              occupancy.pass { sched_yield() }
              value += 1
            }
          }
        }
      }
      #expect(await value.run { $0 } == 400)
    }
    #expect(occupancy.most == 1)
  }

  @MainActor @Test func callsRunInTheOrderTheyCame() async {
    let threads = ThreadPool(name: "order", threads: 4)
    let value = Confined([Int](), to: threads)
    // The tasks begin in this order on the main actor, and none of them suspends before its call waits.
    let tasks = (0..<500).map { number in
      Task { @MainActor in await value.run { $0.append(number) } }
    }
    for task in tasks { await task.value }
    #expect(await value.run { $0 } == Array(0..<500))
    await threads.stop()
  }

  @Test func blockedValueDoesNotDelayAnother() async {
    let threads = ThreadPool(name: "values", threads: 2)
    let (slow, quick) = (Confined(0, to: threads), Confined(0, to: threads))
    let isBlocked = DispatchSemaphore(value: 0)
    let mayGoOn = DispatchSemaphore(value: 0)
    async let blocking: Void = slow.run { _ in
      isBlocked.signal()
      mayGoOn.wait()
    }
    // If the slow value delayed the other one, these calls would wait for ever.
    await quick.run { _ in isBlocked.wait() }
    for _ in 0..<100 { await quick.run { $0 += 1 } }
    await quick.run { _ in _ = mayGoOn.signal() }
    await blocking
    await threads.stop()
  }

  @Test func thousandValuesTakeTheThreadsOfTheirPoolOnly() async {
    await ThreadPool.with(name: "crowd", threads: 16) { threads in
      let values = (0..<1_000).map { Confined($0, to: threads) }
      let seen = await withTaskGroup(of: UInt.self) { group in
        for value in values { group.addTask { await value.run { _ in UInt(pthread_self()) } } }
        return await group.reduce(into: Set<UInt>()) { $0.insert($1) }
      }
      #expect(seen.count <= 16)
    }
  }

  @Test func errorIsPassedOnAndTheNextCallRuns() async {
    await ThreadPool.with(name: "error") { threads in
      let value = Confined(1, to: threads)
      await #expect(throws: POSIXError.self) {
        try await value.run { value in
          value = 2
          throw POSIXError(.EIO)
        }
      }
      #expect(await value.run { $0 } == 2)
    }
  }

  @Test func callAfterTheThreadsStoppedStillRuns() async {
    let threads = ThreadPool(name: "late")
    let value = Confined(1, to: threads)
    await threads.stop()
    #expect(await value.run { $0 } == 1)
    await threads.stop()
  }

  @Test func valueIsFreedWithItsLastOwner() async {
    final class Resource: Sendable {}
    weak var freed: Resource?
    await ThreadPool.with(name: "owner") { threads in
      do {
        let resource = Resource()
        freed = resource
        let value = Confined(resource, to: threads)
        await value.run { _ in }
      }
    }
    while freed != nil { try? await Task.sleep(for: .milliseconds(1)) }
  }
}
