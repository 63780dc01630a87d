import Synchronization

/// What one party has used of the processors' time, and how much it has left.
///
/// There are two levels: addresses and users stand in line with each other; below an address each guest has an account
/// of its own, and so have all together who have not said who they are, in line with that address's others only. What
/// is spent below is spent above as well.
///
/// Unchecked, because the compiler cannot see the lock. Proof: `spent` is atomic; all else that changes is touched
/// only by ``FairQueue``, which is a value behind the pool's lock.
package final class ProcessorAccount: @unchecked Sendable {
  /// What an account holds, in nanoseconds of one processor: ten seconds, an honest first sync of 50,000 documents.
  package static let capacity: Int64 = 10_000_000_000
  /// How fast it fills, in percent of one processor.
  package static let percent: Int64 = 10

  /// The address's account; nil for one of the upper level.
  package let parent: ProcessorAccount?
  /// Whether it can be overdrawn; the server's own work can't.
  let isLimited: Bool
  /// Nanoseconds that were spent so far.
  private let spent = Atomic<Int64>(0)
  /// Whether it, or the address that it is below, was overdrawn when that was last looked at.
  private let overdrawn = Atomic<Bool>(false)

  /// What was spent when the balance was last computed.
  private var seen: Int64 = 0
  /// Nanoseconds that were left then.
  private var balance = ProcessorAccount.capacity
  /// When that was.
  private var refilled: Int64
  /// What decides who is next: the time that was spent, raised to the others' when it begins to wait.
  var virtualTime: Int64 = 0
  /// The virtual time of the account below that was served last.
  var servedBelow: Int64 = 0
  /// The accounts below that wait.
  var waitingBelow: [ProcessorAccount] = []
  /// What waits on this account, in order.
  var entries = FirstIn<PoolEntry>()

  /// An account that is full.
  package init(below parent: ProcessorAccount? = nil, isLimited: Bool = true) {
    self.parent = parent
    self.isLimited = isLimited
    refilled = SliceClock.now
  }

  /// Whether nothing waits here or below.
  var isIdle: Bool { entries.isEmpty && waitingBelow.isEmpty }

  /// Whether it or its address was overdrawn when something was last put in line.
  package var isOverdrawn: Bool {
    overdrawn.load(ordering: .relaxed) || parent?.overdrawn.load(ordering: .relaxed) ?? false
  }

  /// Since when its first entry waits; in the far future where there is none.
  var waitsSince: Int64 { entries.first?.since ?? .max }

  /// Whether something waits here or below since before a moment.
  func waitsLonger(than moment: Int64) -> Bool {
    waitsSince < moment || waitingBelow.contains { $0.waitsSince < moment }
  }

  /// What was spent since the account was made, in nanoseconds.
  var nanosecondsSpent: Int64 { spent.load(ordering: .relaxed) }

  /// Pays for processor time.
  package func spend(nanoseconds: Int64) {
    spent.add(nanoseconds, ordering: .relaxed)
    parent?.spent.add(nanoseconds, ordering: .relaxed)
  }

  /// Takes note of what was spent and came in since. Under the pool's lock only.
  /// - Returns: nanoseconds that are left; less than nothing when overdrawn.
  func settle(at now: Int64) -> Int64 {
    let total = spent.load(ordering: .relaxed)
    let used = total - seen
    seen = total
    virtualTime += used
    guard isLimited else { return Self.capacity }
    balance = min(balance - used + max(0, now - refilled) / 100 * Self.percent, Self.capacity)
    refilled = now
    overdrawn.store(balance < 0, ordering: .relaxed)
    return balance
  }
}

/// A queue that gives back what came first, each in constant time.
struct FirstIn<Element> {
  private var elements: [Element?] = []
  private var head = 0

  var isEmpty: Bool { head == elements.count }
  var count: Int { elements.count - head }
  var first: Element? { isEmpty ? nil : elements[head] }

  mutating func append(_ element: Element) { elements.append(element) }

  mutating func popFirst() -> Element? {
    guard head < elements.count else { return nil }
    let element = elements[head]
    elements[head] = nil
    head += 1
    if head == elements.count {
      elements.removeAll(keepingCapacity: true)
      head = 0
    } else if head >= 64, head * 2 >= elements.count {
      elements.removeFirst(head)
      head = 0
    }
    return element
  }

  /// Takes out all that fit, in order.
  mutating func remove(where fits: (Element) -> Bool) -> [Element] {
    let all = elements[head...].compactMap { $0 }
    let taken = all.filter(fits)
    guard !taken.isEmpty else { return [] }
    elements = all.filter { !fits($0) }
    head = 0
    return taken
  }
}
