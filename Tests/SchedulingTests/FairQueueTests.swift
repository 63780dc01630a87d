import Testing

@testable import Scheduling

@Suite struct FairQueueTests {
  private let seats = Seats(stores: .forStores())
  private let second: Int64 = 1_000_000_000

  /// A request of this account that waits.
  private func waiter(_ account: ProcessorAccount, since: Int64) -> Waiter {
    Waiter(kind: .closure { _, _ in }, work: Work(account, in: seats), since: since)
  }

  /// The accounts in the order in which the queue serves them. Each spends a millisecond when it is served.
  private func order(_ queue: inout FairQueue, at now: Int64) -> [ProcessorAccount] {
    var served: [ProcessorAccount] = []
    while let waiter = queue.pop(at: now), let account = waiter.work?.account {
      account.spend(nanoseconds: 1_000_000)
      served.append(account)
    }
    return served
  }

  @Test func whoAsksMuchGetsNoMoreThanWhoAsksLittle() {
    let now = SliceClock.now
    let (busy, quiet) = (ProcessorAccount(), ProcessorAccount())
    var queue = FairQueue()
    for _ in 0..<10 { queue.push(waiter(busy, since: now), busy, at: now) }
    for _ in 0..<2 { queue.push(waiter(quiet, since: now), quiet, at: now) }
    let served = order(&queue, at: now)
    #expect(served.count == 12)
    #expect(served.prefix(4).filter { $0 === quiet }.count == 2)
  }

  @Test func whoComesLateHasACreditButIsNotRepaidForTheTimeBefore() {
    let now = SliceClock.now
    let (early, late) = (ProcessorAccount(), ProcessorAccount())
    var queue = FairQueue()
    for _ in 0..<200 { queue.push(waiter(early, since: now), early, at: now) }
    for _ in 0..<100 { queue.pop(at: now)?.work?.account.spend(nanoseconds: 1_000_000) }
    for _ in 0..<60 { queue.push(waiter(late, since: now), late, at: now) }
    let served = order(&queue, at: now).prefix(60)
    // Twenty milliseconds first, then every second one.
    #expect((38...42).contains(served.filter { $0 === late }.count))
  }

  @Test func aThousandGuestsOfAnAddressShareWhatAnotherAddressHasAlone() {
    let now = SliceClock.now
    let (crowd, other) = (ProcessorAccount(), ProcessorAccount())
    let guests = (0..<50).map { _ in ProcessorAccount(below: crowd) }
    let lonely = ProcessorAccount(below: other)
    var queue = FairQueue()
    for guest in guests { queue.push(waiter(guest, since: now), guest, at: now) }
    for _ in 0..<10 { queue.push(waiter(lonely, since: now), lonely, at: now) }
    let served = order(&queue, at: now)
    #expect((9...10).contains(served.prefix(20).filter { $0 === lonely }.count))
  }

  @Test func guestsOfAnAddressAreServedEqually() {
    let now = SliceClock.now
    let address = ProcessorAccount()
    let (busy, honest) = (ProcessorAccount(below: address), ProcessorAccount(below: address))
    var queue = FairQueue()
    for _ in 0..<10 { queue.push(waiter(busy, since: now), busy, at: now) }
    for _ in 0..<3 { queue.push(waiter(honest, since: now), honest, at: now) }
    #expect(order(&queue, at: now).prefix(6).filter { $0 === honest }.count == 3)
  }

  /// Regression: 240 users of one address each had as much as an address.
  @Test func usersOfAnAddressShareWhatAnotherAddressHas() {
    let now = SliceClock.now
    let (crowd, other) = (ProcessorAccount(), ProcessorAccount())
    let users = (0..<50).map { _ in ProcessorAccount(below: crowd, of: ProcessorAccount()) }
    let lonely = ProcessorAccount(below: other, of: ProcessorAccount())
    var queue = FairQueue()
    for user in users { queue.push(waiter(user, since: now), user, at: now) }
    for _ in 0..<10 { queue.push(waiter(lonely, since: now), lonely, at: now) }
    let served = order(&queue, at: now)
    #expect((9...10).contains(served.prefix(20).filter { $0 === lonely }.count))
  }

  @Test func whoComesFromManyAddressesGetsNoMoreThanWhoComesFromOne() {
    let now = SliceClock.now
    let user = ProcessorAccount()
    let everywhere = (0..<20).map { _ in ProcessorAccount(below: ProcessorAccount(), of: user) }
    let other = ProcessorAccount(below: ProcessorAccount(), of: ProcessorAccount())
    var queue = FairQueue()
    for one in everywhere { queue.push(waiter(one, since: now), one, at: now) }
    for _ in 0..<10 { queue.push(waiter(other, since: now), other, at: now) }
    let served = order(&queue, at: now)
    #expect((9...10).contains(served.prefix(20).filter { $0 === other }.count))
  }

  @Test func whatAUserSpendsAtOneAddressIsOverdrawnAtAllAndDelaysNobodyElseThere() {
    let now = SliceClock.now
    let (user, office) = (ProcessorAccount(), ProcessorAccount())
    let (away, there) = (
      ProcessorAccount(below: ProcessorAccount(), of: user),
      ProcessorAccount(below: office, of: user)
    )
    let colleague = ProcessorAccount(below: office)
    away.spend(nanoseconds: ProcessorAccount.capacity + second)
    var queue = FairQueue()
    queue.push(waiter(there, since: now), there, at: now)
    for _ in 0..<5 { queue.push(waiter(colleague, since: now), colleague, at: now) }
    #expect(order(&queue, at: now).last === there)
    #expect(there.isOverdrawn && away.isOverdrawn && !office.isOverdrawn && !colleague.isOverdrawn)
  }

  @Test func endOfARequestThatDoesNotWaitChangesNothingForItsUser() {
    let now = SliceClock.now
    let (user, office) = (ProcessorAccount(), ProcessorAccount())
    let there = ProcessorAccount(below: office, of: user)
    let away = ProcessorAccount(below: ProcessorAccount(), of: user)
    let colleague = ProcessorAccount(below: office)
    away.spend(nanoseconds: ProcessorAccount.capacity + second)
    var queue = FairQueue()
    for _ in 0..<2 { queue.push(waiter(colleague, since: now), colleague, at: now) }
    for _ in 0..<5 { queue.expedite(Work(there, in: seats), there) }
    queue.push(waiter(there, since: now), there, at: now)
    #expect(office.line(in: .requests).waitingUsers == 1)
    #expect(user.line(in: .requests).waitingUsers == 1)
    #expect(order(&queue, at: now).last === there)
    #expect(user.line(in: .requests).waitingUsers == 0)
  }

  @Test func ofTooManyTheAddressWithTheMostLosesItsNewest() {
    let now = SliceClock.now
    let (crowd, other) = (ProcessorAccount(), ProcessorAccount())
    let (busy, quiet) = (ProcessorAccount(below: crowd), ProcessorAccount(below: crowd))
    var queue = FairQueue(.hashes)
    queue.push(waiter(quiet, since: now), quiet, at: now)
    for since in 0..<2 { queue.push(waiter(busy, since: now + Int64(since)), busy, at: now) }
    let refused = queue.displace(for: quiet)
    #expect(refused == nil)
    let displaced = queue.displace(for: other)
    #expect(displaced?.work?.account === busy && displaced?.since == now + 1)
    queue.push(waiter(other, since: now), other, at: now)
    let last = queue.displace(for: other)
    #expect(last == nil && queue.count == 3)
  }

  @Test func whoHasOverdrawnWaitsBehindTheOthers() {
    let now = SliceClock.now
    let (spender, saver) = (ProcessorAccount(), ProcessorAccount())
    spender.spend(nanoseconds: ProcessorAccount.capacity + second)
    var queue = FairQueue()
    queue.push(waiter(spender, since: now), spender, at: now)
    for _ in 0..<5 { queue.push(waiter(saver, since: now), saver, at: now) }
    let served = order(&queue, at: now)
    #expect(served.last === spender)
    #expect(queue.servedBeforeOverdrawn == 5)
    #expect(spender.isOverdrawn)
  }

  @Test func anOverdrawnAccountIsPositiveAgainAfterTenTimesItsDebt() {
    let account = ProcessorAccount()
    let now = SliceClock.now
    account.spend(nanoseconds: ProcessorAccount.capacity + second)
    for line in AccountLine.Queue.allCases.map(account.line(in:)) {
      #expect(line.settle(at: now + 9 * second) < 0)
      #expect(line.settle(at: now + 11 * second) > 0)
    }
  }

  @Test func whoHasOverdrawnAndWaitedForLongIsToldSo() throws {
    let now = SliceClock.now
    let (spender, saver) = (ProcessorAccount(), ProcessorAccount())
    spender.spend(nanoseconds: 2 * ProcessorAccount.capacity)
    var queue = FairQueue()
    queue.push(waiter(spender, since: now), spender, at: now)
    queue.push(waiter(saver, since: now), saver, at: now)
    let later = now + FairQueue.patience + 1
    let first = try #require(queue.pop(at: later)?.work)
    #expect(first.account === spender)
    #expect(first.reason == .overdrawn)
    let second = try #require(queue.pop(at: later)?.work)
    #expect(second.account === saver)
    #expect(second.reason == nil)
  }

  @Test func whatWasEndedGoesFirstToBeClearedAway() throws {
    let now = SliceClock.now
    let (spender, saver) = (ProcessorAccount(), ProcessorAccount())
    spender.spend(nanoseconds: 2 * ProcessorAccount.capacity)
    let given = waiter(spender, since: now)
    var queue = FairQueue()
    queue.push(waiter(saver, since: now), saver, at: now)
    queue.push(given, spender, at: now)
    let work = try #require(given.work)
    // Unlike the other reasons, this one does not change the queue of the seats.
    work.end(.overdrawn)
    queue.expedite(work, spender)
    #expect(queue.pop(at: now)?.work === work)
    #expect(queue.count == 1)
    #expect(queue.pop(at: now)?.work?.account === saver)
    #expect(queue.pop(at: now) == nil)
  }

  @Test func semaphoreServesFirstWhoHasUsedLeast() async throws {
    let (busy, quiet, third) = (ProcessorAccount(), ProcessorAccount(), ProcessorAccount())
    busy.spend(nanoseconds: ProcessorAccount.capacity / 2)
    let semaphore = FairSemaphore(.searches, permits: 1, queueLimit: 2)
    let times = await semaphore.withPermit { _ in
      let waiting = await passing(semaphore, third, seats) {
        // Both permits are taken: whoever comes now waits.
        let late = Task { [seats] in await self.passes(semaphore, busy, seats) }
        while semaphore.waitingCount < 1 { try? await Task.sleep(for: .milliseconds(1)) }
        let early = Task { [seats] in await self.passes(semaphore, quiet, seats) }
        while semaphore.waitingCount < 2 { try? await Task.sleep(for: .milliseconds(1)) }
        return (late: late, early: early)
      }
      // One permit is free again and the other is not, so one after the other has it.
      return (early: await waiting?.early.value ?? nil, late: await waiting?.late.value ?? nil)
    }
    #expect(try #require(times?.early) < #require(times?.late))
  }

  @Test func reservedPermitIsForWhoHasNoCallRunningAndHasNotOverdrawn() async {
    let (spender, saver, holder) = (ProcessorAccount(), ProcessorAccount(), ProcessorAccount())
    spender.spend(nanoseconds: 2 * ProcessorAccount.capacity)
    _ = spender.line(in: .requests).settle(at: SliceClock.now)
    let semaphore = FairSemaphore(.searches, permits: 1, queueLimit: 8)
    let waiting = await passing(semaphore, holder, seats) {
      let overdrawn = Task { [seats] in await self.passes(semaphore, spender, seats) }
      while semaphore.waitingCount < 1 { try? await Task.sleep(for: .milliseconds(1)) }
      let another = Task { [seats] in await self.passes(semaphore, holder, seats) }
      while semaphore.waitingCount < 2 { try? await Task.sleep(for: .milliseconds(1)) }
      // Both wait although a permit is free, which is this one's.
      #expect(await self.passes(semaphore, saver, self.seats) != nil)
      return (overdrawn, another)
    }
    #expect(await waiting?.0.value != nil)
    #expect(await waiting?.1.value != nil)
  }

  @Test func oneAccountWaitsInTwoSemaphoresAtOnce() async {
    let account = ProcessorAccount()
    let searches = FairSemaphore(.searches, permits: 1, queueLimit: 8)
    let connections = FairSemaphore(.databaseReads, permits: 1, queueLimit: 8)
    let waiting = await passing(searches, account, seats) {
      await self.passing(connections, account, self.seats) {
        let search = Task { [seats] in await self.passes(searches, account, seats) }
        let connection = Task { [seats] in await self.passes(connections, account, seats) }
        while searches.waitingCount < 1 || connections.waitingCount < 1 {
          try? await Task.sleep(for: .milliseconds(1))
        }
        return (search, connection)
      }
    }
    #expect(await waiting??.0.value != nil)
    #expect(await waiting??.1.value != nil)
    #expect(searches.isFree && connections.isFree)
  }

  @Test func everybodysCallsDoNotWaitForEachOther() async {
    let semaphore = FairSemaphore(.databaseWrites, permits: 1, queueLimit: 8)
    let inner = await semaphore.withPermit(for: .everybody) { _ in
      await semaphore.withPermit(for: .everybody) { _ in
        let account = ProcessorAccount()
        let other = Task { await semaphore.withPermit(for: .account(account)) { _ in true } }
        while semaphore.waitingCount < 1 { try? await Task.sleep(for: .milliseconds(1)) }
        return other
      }
    }
    #expect(await inner??.value == true)
  }

  @Test func callerBeyondTheQueueLimitIsRefused() async {
    let semaphore = FairSemaphore(.searches, permits: 1, queueLimit: 1)
    let waiting = await semaphore.withPermit { _ in
      let second = Task { await semaphore.withPermit { _ in true } }
      while semaphore.waitingCount < 1 { try? await Task.sleep(for: .milliseconds(1)) }
      #expect(await semaphore.withPermit { _ in true } == nil)
      return second
    }
    #expect(await waiting?.value == true)
    #expect(await semaphore.withPermit { _ in true } == true)
  }

  @Test func whoHasGoneGetsNoPermit() async {
    let semaphore = FairSemaphore(.searches, permits: 1, queueLimit: 8)
    let account = ProcessorAccount()
    let waiting = await semaphore.withPermit { _ in
      await passing(semaphore, ProcessorAccount(), seats) { [seats] in
        // Both permits are taken.
        let gone = Task {
          let work = Work(account, in: seats)
          return await Work.$current.withValue(work) {
            let hangUp = Task {
              while semaphore.waitingCount < 1 { try? await Task.sleep(for: .milliseconds(1)) }
              work.end(.gone)
            }
            let outcome = await semaphore.withPermit { _ in true }
            await hangUp.value
            return outcome
          }
        }
        while seats.counts.endedCount(.gone) < 1 { try? await Task.sleep(for: .milliseconds(1)) }
        return gone
      }
    }
    let outcome = await (waiting ?? nil)?.value
    #expect(outcome == .some(nil))
    #expect(await semaphore.withPermit { _ in true } == true)
  }

  /// The time at which a request on this account gets a permit; nil if it gets none.
  private func passes(
    _ semaphore: FairSemaphore, _ account: ProcessorAccount, _ seats: Seats
  ) async -> Int64? {
    await passing(semaphore, account, seats) { SliceClock.now }
  }

  /// What is done for a request of this account behind a semaphore.
  private func passing<Value: Sendable>(
    _ semaphore: FairSemaphore, _ account: ProcessorAccount, _ seats: Seats,
    _ body: @Sendable () async -> Value
  ) async -> Value? {
    await Work.$current.withValue(Work(account, in: seats)) {
      await semaphore.withPermit { _ in await body() }
    }
  }
}
