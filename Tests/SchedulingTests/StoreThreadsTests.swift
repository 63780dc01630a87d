import Dispatch
import Glibc
import Synchronization
import Testing

@testable import Scheduling

/// Values that are confined to the threads for stores.
@Suite(.timeLimit(.minutes(60))) struct StoreThreadsTests {
  /// A count, with the clock of its calls.
  private final class Counter {
    let clock: CallClock
    var count = 0

    init(_ clock: CallClock) { self.clock = clock }
  }

  private static func counter(on threads: ThreadPool) -> Confined<Counter> {
    Confined(to: threads) { clock in Counter(clock) }
  }

  @Test func aStoresCallsRunOneAtATimeOnWhicheverThreadIsFree() async {
    let threads = ThreadPool.forStores(processors: 4, threads: 4)
    let counters = (0..<8).map { _ in Self.counter(on: threads) }
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<50 {
        for counter in counters { group.addTask { await counter.run { $0.count += 1 } } }
      }
    }
    for counter in counters { #expect(await counter.run { $0.count } == 50) }
    await threads.stop()
  }

  @Test func threadThatWaitsForTheDiskLetsAnotherCompute() async {
    let threads = ThreadPool.forStores(processors: 1, threads: 2)
    let (first, second) = (Self.counter(on: threads), Self.counter(on: threads))
    await first.run { counter in
      counter.clock.blocking {
        let done = DispatchSemaphore(value: 0)
        second.enqueue { other in
          other.count += 1
          done.signal()
        }
        done.wait()
      }
    }
    #expect(await second.run { $0.count } == 1)
    await threads.stop()
  }

  @Test func whoComputesForLongKeepsNobodyWaiting() async {
    let threads = ThreadPool.forStores(processors: 2, threads: 2)
    let (first, second) = (Self.counter(on: threads), Self.counter(on: threads))
    await first.run { _ in
      let done = DispatchSemaphore(value: 0)
      second.enqueue { other in
        other.count += 1
        done.signal()
      }
      done.wait()
    }
    #expect(await second.run { $0.count } == 1)
    await threads.stop()
  }

  @Test func callersThreadUsesTheValueWhileItIsIdle() async {
    let threads = ThreadPool.forStores(processors: 2, threads: 2)
    let counter = Self.counter(on: threads)
    #expect(counter.runIfIdle { $0.count } == 0)
    await counter.run { $0.count += 1 }
    await counter.run { _ in #expect(counter.runIfIdle { $0.count } == nil) }
    await threads.stop()
  }

  @Test func threadsThatRunInlineNeverMeetThePoolOrEachOther() async {
    let threads = ThreadPool.forStores(processors: 2, threads: 4)
    let counter = Self.counter(on: threads)
    await withTaskGroup { group in
      for _ in 0..<8 { group.addTask { await Self.addThousand(to: counter) } }
    }
    // If two threads were inside at the same time, an increment could be lost.
    #expect(await counter.run { $0.count } == 8_000)
    await threads.stop()
  }

  private static func addThousand(to counter: Confined<Counter>) async {
    for _ in 0..<1_000 {
      if counter.runIfIdle({ $0.count += 1 }) == nil { await counter.run { $0.count += 1 } }
    }
  }

  /// Uses two milliseconds of the thread's processor time.
  private static func toil() {
    func used() -> Int {
      var time = timespec()
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
      return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }
    let end = used() + 2_000_000
    while used() < end {}
  }

  @Test func whatIsDoneForOthersTheyPayEqually() async {
    let threads = ThreadPool.forStores(processors: 2, threads: 2)
    let seats = Seats(stores: threads)
    let accounts = (0..<3).map { _ in ProcessorAccount() }
    let works = accounts.map { Work($0, in: seats) }
    let counter = Self.counter(on: threads)
    counter.enqueue(for: works[0]) { counter in
      counter.clock.charging([works[1], works[2]]) {
        Self.toil()
        usleep(100_000)
      }
    }
    await threads.stop()
    let spent = accounts.map(\.nanosecondsSpent)
    #expect(spent[1] >= 1_000_000)
    // Regression: the time without the processor counted, too.
    #expect(spent[1] < 50_000_000)
    #expect(spent[1] == spent[2])
    #expect(spent[0] < spent[1])
  }
}
