import DequeModule
import Glibc
import NIOConcurrencyHelpers
import Synchronization

/// A value whose use blocks, such as an open file, and the calls that wait for it.
///
/// One call runs at a time, on a thread of the pool, in the order in which they came.
/// ```swift
/// let archive = Confined(Archive(path), to: ThreadPool(name: "archive"))
/// let size = try await archive.run { archive in try archive.size() }
/// ```
///
/// Unchecked, because the compiler cannot see the lock. Proof: `state` and `clock` are private and are used only with
/// `mutex` held; its address never changes; the initial value is `sending`; `calls` has a lock of its own.
package final class Confined<State>: @unchecked Sendable {
  /// How often ``runIfIdle(_:)`` tries to get the lock. The attempts take some microseconds, long enough for another
  /// short read to end. A commit takes longer; `runIfIdle` does not wait for it.
  private static var attempts: Int { 200 }

  private struct Call: Sendable {
    let work: Work?
    /// Uses the value, calls the given function, which gives the value to others, and then tells the caller.
    let run: @Sendable (() -> Void) -> Void
  }

  private struct Queue {
    var calls = Deque<Call>()
    /// Whether a thread of the pool runs the calls, or soon will.
    var isRunning = false
  }

  /// The pool on whose threads the calls run.
  package let threads: ThreadPool
  private var state: State
  private let clock: CallClock
  private let queue = NIOLockedValueBox(Queue())
  // On the heap, because its address must never change.
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  /// Whether a call runs or waits for the lock.
  private let isBusy = Atomic(false)

  /// Makes a queue around a value that no other code holds.
  package init(_ state: sending State, to threads: ThreadPool) {
    self.state = state
    self.threads = threads
    clock = CallClock()
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
  }

  /// Makes a queue around a value that says when it waits for others.
  /// - Parameter make: returns a value that no other code holds.
  package init(to threads: ThreadPool, _ make: (CallClock) -> sending State) {
    self.threads = threads
    clock = CallClock()
    state = make(clock)
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  /// Runs a closure on the value. The wait can't be cancelled; every closure runs.
  /// - Throws: what the closure throws.
  package func run<Value: Sendable, Failure: Error>(
    _ body: @escaping @Sendable (inout State) throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    let work = Work.current
    return try await Work.waiting {
      await withCheckedContinuation { continuation in
        enqueue(
          Call(work: work) { release in
            let result = Result { () throws(Failure) in try body(&self.state) }
            release()
            continuation.resume(returning: result)
          })
      }
    }.get()
  }

  /// Adds a closure whose result no one awaits.
  /// - Parameter work: the request that pays for it; nil for none.
  package func enqueue(for work: Work? = nil, _ body: @escaping @Sendable (inout State) -> Void) {
    enqueue(
      Call(work: work) { release in
        body(&self.state)
        release()
      })
  }

  /// Runs `body` on the calling thread, unless a call runs or waits.
  ///
  /// Calls wait meanwhile. `body` must not block, and must take far less than a slice.
  /// - Returns: the result of `body`; nil when the value is in use, and then `body` has not run.
  package func runIfIdle<Value>(_ body: (inout State) -> Value) -> Value? {
    for _ in 0..<Self.attempts {
      // Waiting calls go first; otherwise readers could keep a writer out.
      guard !isBusy.load(ordering: .relaxed) else { return nil }
      guard pthread_mutex_trylock(mutex) == 0 else { continue }
      defer { pthread_mutex_unlock(mutex) }
      return body(&state)
    }
    return nil
  }

  private func enqueue(_ call: Call) {
    let mustRun = queue.withLockedValue { queue in
      queue.calls.append(call)
      defer { queue.isRunning = true }
      return !queue.isRunning
    }
    if mustRun { threads.push(for: call.work, runCalls) }
  }

  /// Runs the waiting calls, for one slice at most and only calls of one account. The calls after the first find the
  /// value in the processor's cache.
  private func runCalls(_ pool: ThreadPool, _ thread: inout ThreadClock) {
    let end = SliceClock.now + Slice.nanoseconds
    var call = queue.withLockedValue { $0.calls.popFirst() }
    while let present = call {
      run(present, pool, &thread)
      let (next, work) = queue.withLockedValue { queue -> (Call?, Work??) in
        guard let next = queue.calls.first else {
          queue.isRunning = false
          return (nil, nil)
        }
        if next.work?.account === present.work?.account, SliceClock.now < end {
          return (queue.calls.popFirst(), nil)
        }
        return (nil, .some(next.work))
      }
      call = next
      if let work { pool.push(for: work, runCalls) }
    }
  }

  private func run(_ call: Call, _ pool: ThreadPool, _ thread: inout ThreadClock) {
    isBusy.store(true, ordering: .relaxed)
    pthread_mutex_lock(mutex)
    let begun = clock.begin(pool)
    call.run {
      let (excluded, paid) = clock.end()
      isBusy.store(false, ordering: .relaxed)
      pthread_mutex_unlock(mutex)
      // Before the caller goes on, so that a reader of the request's cost sees it.
      call.work?.charge(thread.time(since: begun, excluding: excluded, paid: paid))
    }
  }
}

/// What a confined value tells of the time that its calls take.
///
/// Unchecked, because the compiler cannot see the lock. Proof: only the calls of one ``Confined`` value use the variables,
/// with its lock held.
package final class CallClock: @unchecked Sendable {
  /// The pool whose thread runs the present call; nil for a thread that does not belong to it.
  private var pool: ThreadPool?
  /// The part of the time so far that this call is not charged for, in nanoseconds.
  private var excluded: Int64 = 0
  /// The part of it that others pay.
  private var paid: Int64 = 0
  /// How long the calls have waited for the disk or the network so far, in nanoseconds.
  package private(set) var waited: Int64 = 0

  fileprivate func begin(_ pool: ThreadPool) -> Int64 {
    self.pool = pool
    (excluded, paid) = (0, 0)
    return SliceClock.now
  }

  fileprivate func end() -> (excluded: Int64, paid: Int64) {
    pool = nil
    return (excluded, paid)
  }

  /// Runs a part of a call that blocks without computing. Another thread may compute meanwhile.
  package func blocking<Value, Failure: Error>(
    _ body: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    let begun = SliceClock.now
    defer {
      waited += SliceClock.now - begun
      excluded += SliceClock.now - begun
    }
    guard let pool else { return try body() }
    return try pool.blocking(body)
  }

  /// Runs a part of a call that is done for other requests, each of which pays an equal part.
  package func charging<Value, Failure: Error>(
    _ works: [Work?], _ body: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    let (begun, before) = (SliceClock.now, excluded)
    var thread = ThreadClock()
    defer {
      let time = thread.time(since: begun, excluding: excluded - before)
      excluded = before + SliceClock.now - begun
      paid += time
      for work in works {
        work?.charge(time / Int64(max(1, works.count)), isSlice: works.count == 1)
      }
    }
    return try body()
  }
}
