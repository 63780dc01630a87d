import Dispatch
import Foundation
import Scheduling
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(60))) struct ThreadPoolTests {
  @Test func onlyThreadRunsAllClosures() async {
    await ThreadPool.with(name: "one-thread") { threads in
      var seen: Set<UInt> = []
      var names: Set<String> = []
      for _ in 0..<100 {
        await Task.yield()
        seen.insert(await threads.run { UInt(pthread_self()) })
        names.insert(await threads.run { ThreadNames.current() })
      }
      #expect(seen.count == 1)
      #expect(names == ["one-thread"])
    }
  }

  @Test func threadsYieldOnlyInPoolThatSaysSo() async {
    @Sendable func niceness() -> Int32 { getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0) }
    let own = niceness()
    await ThreadPool.with(name: "yielding", niceness: 19) { threads in
      #expect(await threads.run { niceness() } == 19)
    }
    await ThreadPool.with(name: "usual") { threads in
      #expect(await threads.run { niceness() } == own)
    }
  }

  @Test func hashIsPaidForAndIsNoSlice() async {
    await ThreadPool.with(name: "hash") { threads in
      for isSlice in [false, true] {
        let work = Work(ProcessorAccount(), in: Seats(stores: threads))
        await Work.$current.withValue(work) {
          await threads.run(isSlice: isSlice) { for _ in 0..<1_000 { sched_yield() } }
        }
        #expect(work.nanoseconds > 0)
        #expect((work.longestSlice > 0) == isSlice)
      }
    }
  }

  @Test func callerGoesOnElsewhere() async {
    await ThreadPool.with(name: "elsewhere") { threads in
      await threads.run {}
      #expect(ThreadNames.current() != "elsewhere")
    }
  }

  @Test func atMostAsManyClosuresRunAtOnceAsThereAreThreads() async {
    for count in [1, 3] {
      let occupancy = Occupancy()
      await ThreadPool.with(name: "crowd", threads: count) { threads in
        await withTaskGroup(of: Void.self) { group in
          for _ in 0..<400 {
            group.addTask {
              // `sched_yield` gives the process's other threads a chance to enter at the same time.
              await threads.run { occupancy.pass { sched_yield() } }
            }
          }
        }
        // A thread of Swift's pool that one of these has started bears their name until it has its own.
        while ThreadNames.now().count(where: { $0 == "crowd" }) > count {
          try? await Task.sleep(for: .milliseconds(1))
        }
      }
      #expect(occupancy.most <= count)
      #expect(occupancy.total == 400)
    }
  }

  @Test func closuresStartInTheOrderTheyCame() async {
    let threads = ThreadPool(name: "order")
    let order = Order()
    for number in 0..<500 { threads.enqueue { order.note(number) } }
    await threads.stop()
    #expect(order.numbers == Array(0..<500))
  }

  @Test func errorIsPassedOn() async {
    await ThreadPool.with(name: "error") { threads in
      _ = await #expect(throws: POSIXError.self) {
        try await threads.run { throw POSIXError(.EIO) }
      }
    }
  }

  @Test func blockedThreadDelaysNeitherItsPoolNorAnother() async {
    let slow = ThreadPool(name: "slow", threads: 2)
    let quick = ThreadPool(name: "quick")
    let isBlocked = DispatchSemaphore(value: 0)
    let mayGoOn = DispatchSemaphore(value: 0)
    async let blocking: Void = slow.run {
      isBlocked.signal()
      mayGoOn.wait()
    }
    // If one thread delayed the others, these calls would wait for ever, because only the last one releases it.
    await quick.run { isBlocked.wait() }
    for _ in 0..<100 { await quick.run {} }
    for _ in 0..<100 { await slow.run {} }
    await quick.run { _ = mayGoOn.signal() }
    await blocking
    await slow.stop()
    await quick.stop()
  }

  @Test func blockedThreadsLeaveTheCooperativePoolFree() async {
    let count = 16
    let threads = ThreadPool(name: "blocked", threads: count)
    let witness = ThreadPool(name: "witness")
    let mayGoOn = DispatchSemaphore(value: 0)
    let blocked = DispatchSemaphore(value: 0)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<count {
        group.addTask {
          await threads.run {
            blocked.signal()
            mayGoOn.wait()
          }
        }
      }
      await witness.run { for _ in 0..<count { blocked.wait() } }
      // There are more blocked threads than threads in the cooperative pool. Only a task there can release them.
      await Task.detached { for _ in 0..<count { mayGoOn.signal() } }.value
    }
    await witness.stop()
    await threads.stop()
  }

  @Test(arguments: [0, -5, 1])
  func thereIsAlwaysOneThread(count: Int) async {
    await ThreadPool.with(name: "least", threads: count) { threads in
      #expect(threads.threads == 1)
      #expect(await threads.run { 7 } == 7)
    }
  }

  /// Regression: two closures that came before the one idle thread had woken ran one after the other.
  @Test func closuresThatComeTogetherRunAtOnce() async {
    await ThreadPool.with(name: "together", threads: 2) { threads in
      for _ in 0..<200 {
        await threads.run {}
        await withCheckedContinuation { continuation in
          let second = DispatchSemaphore(value: 0)
          threads.enqueue {
            second.wait()
            continuation.resume()
          }
          threads.enqueue { second.signal() }
        }
      }
    }
  }

  @Test func stopRunsWhatWaits() async {
    let occupancy = Occupancy()
    let threads = ThreadPool(name: "drain", threads: 3)
    for _ in 0..<200 { threads.enqueue { occupancy.pass() } }
    await threads.stop()
    #expect(occupancy.total == 200)
    await expectNoThread(named: "drain")
  }

  @Test func closureAfterStopStillRunsAndLeavesNoThread() async {
    let threads = ThreadPool(name: "late")
    await threads.stop()
    #expect(await threads.run { ThreadNames.current() } == "late")
    await threads.stop()
    #expect(await threads.run { ThreadNames.current() } == "late")
    await expectNoThread(named: "late")
  }

  @Test func threadsEndWithTheirWork() async {
    await #expect(throws: POSIXError.self) {
      try await ThreadPool.with(name: "scope", threads: 2) { threads in
        await threads.run {}
        throw POSIXError(.EIO)
      }
    }
    await expectNoThread(named: "scope")
  }

  @Test func idlePoolHasNoThread() async {
    let threads = ThreadPool(name: "idle")
    #expect(ThreadNames.now().filter { $0 == "idle" } == [])
    await threads.stop()
  }

  @Test func stoppedPoolIsFreed() async {
    weak var freed: ThreadPool?
    do {
      let threads = ThreadPool(name: "freed")
      freed = threads
      await threads.run {}
      await threads.stop()
    }
    while freed != nil { try? await Task.sleep(for: .milliseconds(1)) }
  }

  /// A stopped pool's threads have ended when `stop` returns. Their waiters in `/proc` disappear a moment later.
  private func expectNoThread(named name: String) async {
    while ThreadNames.now().contains(name) { try? await Task.sleep(for: .milliseconds(1)) }
  }
}

/// Numbers in the order in which they were noted.
private final class Order: Sendable {
  private let noted = Mutex<[Int]>([])

  func note(_ number: Int) { noted.withLock { $0.append(number) } }

  var numbers: [Int] { noted.withLock { $0 } }
}
