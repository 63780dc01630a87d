import NIOConcurrencyHelpers
import Testing

@testable import Scheduling

extension SeatTable {
  /// A lease whose slice begins at once.
  fileprivate mutating func take(_ account: ProcessorAccount, at now: Int64) -> UInt64? {
    take(account, for: SliceStart(now), at: now)
  }
}

@Suite struct SeatTableTests {
  private let now = SliceClock.now

  @Test func aFlowHasOneFreeSliceAndTheOthersNeedSeats() {
    var table = SeatTable(processors: 2)
    let account = ProcessorAccount(below: ProcessorAccount())
    // One free slice and two seats.
    let leases = (0..<4).map { _ in table.take(account, at: now) }
    #expect(leases.map { $0 != nil } == [true, true, true, false])
  }

  @Test func freeSlicesTakeAsManyPlacesAsThereAreProcessors() {
    var table = SeatTable(processors: 2)
    let leases = (0..<5).map { _ in table.take(ProcessorAccount(), at: now) }
    #expect(leases.map { $0 != nil } == [true, true, true, true, false])
  }

  @Test func guestsOfAnAddressAndAUserAtManyAddressesAreOneFlow() {
    let (address, user) = (ProcessorAccount(), ProcessorAccount())
    for accounts in [
      (0..<4).map({ _ in ProcessorAccount(below: address) }),
      (0..<4).map({ _ in ProcessorAccount(below: ProcessorAccount(), of: user) }),
    ] {
      var table = SeatTable(processors: 2)
      #expect(accounts.compactMap { table.take($0, at: now) }.count == 3)
      // Another flow gets its free slice at once.
      #expect(table.take(ProcessorAccount(), at: now) != nil)
    }
  }

  @Test func whoIsInDebtHasNoFreeSlice() {
    var table = SeatTable(processors: 1)
    let account = ProcessorAccount()
    account.spend(nanoseconds: 2 * ProcessorAccount.capacity)
    _ = account.line(in: .requests).settle(at: now)
    #expect(table.take(account, at: now) != nil)
    #expect(table.take(account, at: now) == nil)
  }

  @Test func whatIsNotGivenBackEndsAfterAWhile() {
    var table = SeatTable(processors: 1)
    let account = ProcessorAccount()
    let given = (0..<2).compactMap { _ in table.take(account, at: now) }
    #expect(table.take(account, at: now) == nil)
    let later = now + SeatTable.longest
    #expect(table.take(account, at: later) != nil)
    // Too late: it changes nothing.
    for id in given { table.giveBack(id) }
    #expect(table.take(account, at: later) != nil)
    #expect(table.take(account, at: later) == nil)
  }

  @Test func whoWaitsForAThreadKeepsTheSeat() {
    var table = SeatTable(processors: 1)
    let account = ProcessorAccount()
    let slices = [SliceStart(), SliceStart()]
    for slice in slices { #expect(table.take(account, for: slice, at: now) != nil) }
    let later = now + 1_000 * SeatTable.longest
    #expect(table.take(account, at: later) == nil)
    slices[1].begin()
    #expect(table.take(account, at: later) != nil)
    #expect(table.take(account, at: later) == nil)
  }

  @Test func aReservedProcessorIsOneSeatFewerButNeverTheLast() {
    for (reserved, seats) in [(0, 2), (1, 1), (2, 1)] {
      var table = SeatTable(processors: 2)
      table.reserved = reserved
      let account = ProcessorAccount()
      #expect((0..<4).compactMap { _ in table.take(account, at: now) }.count == 1 + seats)
    }
  }
}

@Suite(.timeLimit(.minutes(60))) struct SeatsTests {
  @Test func requestsGiveWayToEachOther() async throws {
    let seats = Seats(stores: .forStores(), processors: 1)
    let account = ProcessorAccount()
    let counts = await withTaskGroup(of: Int.self) { group in
      for _ in 0..<8 {
        group.addTask {
          let work = Work(account, in: seats)
          await work.begin()
          return await Work.$current.withValue(work) {
            var slices = 0
            for _ in 0..<20 {
              while Work.current?.isSliceOver == false {}
              try? await Slice.giveWay()
              slices += 1
            }
            return slices
          }
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(counts == Array(repeating: 20, count: 8))
    #expect(!seats.isCrowded)
  }

  @Test func whoWaitsGoesOnWhenNobodyGivesBack() async throws {
    let seats = Seats(stores: .forStores(), processors: 1)
    let account = ProcessorAccount()
    let holders = (0..<2).map { _ in Work(account, in: seats) }
    for holder in holders { await holder.begin() }
    // Both leases are taken, and are not given back.
    await Work(account, in: seats).begin()
    withExtendedLifetime(holders) {}
  }

  /// All but two wait in the queue of seats, not in that of Swift's pool, which would serve each of them first.
  @Test func whoUsesLittleWaitsForFewSlices() async throws {
    let seats = Seats(stores: .forStores(), processors: 1)
    let busy = ProcessorAccount()
    let (slices, isOver) = (NIOLockedValueBox(0), NIOLockedValueBox(false))
    let waits = await withTaskGroup(of: [Int].self) { group in
      for _ in 0..<50 {
        group.addTask {
          let work = Work(busy, in: seats)
          await work.begin()
          await Work.$current.withValue(work) {
            while !isOver.withLockedValue({ $0 }) {
              while !work.isSliceOver {}
              slices.withLockedValue { $0 += 1 }
              try? await Slice.giveWay()
            }
          }
          return []
        }
      }
      group.addTask {
        while slices.withLockedValue({ $0 }) < 100 { try? await Task.sleep(for: .milliseconds(1)) }
        let account = ProcessorAccount()
        var waits: [Int] = []
        for _ in 0..<20 {
          let work = Work(account, in: seats)
          let before = slices.withLockedValue { $0 }
          await work.begin()
          work.finish()
          waits.append(slices.withLockedValue { $0 } - before)
        }
        isOver.withLockedValue { $0 = true }
        return waits
      }
      return await group.reduce(into: []) { $0 += $1 }
    }
    #expect(waits.sorted()[waits.count / 2] <= 5)
  }

  @Test func whoIsDoneLetsTheNextGoOn() async throws {
    let seats = Seats(stores: .forStores(), processors: 1)
    let account = ProcessorAccount()
    for _ in 0..<1_000 {
      let work = Work(account, in: seats)
      await work.begin()
      await Work.$current.withValue(work) { await Work.waiting {} }
    }
    #expect(seats.counts.runningCount == 0)
  }
}
