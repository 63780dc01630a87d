import Testing

@testable import Stores

/// The rules of leasing, tested without an engine: a number takes the place of an open store.
@Suite struct OpenStoresTests {
  private typealias Stores = OpenStores<Int>

  @Test func aNameIsOpenedOnceHoweverManyAsk() {
    var table = Table(slots: 2)
    table.ask("a", as: 1)
    table.ask("a", as: 2)
    table.ask("a", as: 3, creating: false)
    #expect(table.drain() == ["open a"])
    table.opened("a", 7)
    #expect(table.drain() == ["1: leased 7", "2: leased 7", "3: leased 7"])
    #expect(table.stores.lease(name("a")) == 7)
    #expect(table.stores.openCount == 1)
    #expect(table.stores.leasedCount == 1)
  }

  @Test func theLongestIdleStoreMakesWayAndIsClosedFirst() {
    var table = Table(slots: 2)
    table.open("a", 1)
    table.open("b", 2)
    _ = table.stores.lease(name("a"))
    table.release("a")
    #expect(table.drain() == [])
    table.ask("c", as: 3)
    #expect(table.drain() == ["close b"])
    #expect(table.stores.lease(name("b")) == nil)
    #expect(table.stores.openCount == 2)
    table.closed("b")
    #expect(table.drain() == ["open c"])
    #expect(table.stores.openCount == 2)
  }

  @Test func aLeasedStoreIsNeverClosed() {
    var table = Table(slots: 1)
    table.ask("a", as: 1)
    table.opened("a", 1)
    _ = table.drain()
    table.ask("b", as: 2)
    table.ask("c", as: 3)
    #expect(table.drain() == [])
    _ = table.stores.lease(name("a"))
    table.release("a")
    #expect(table.drain() == [])
    table.release("a")
    #expect(table.drain() == ["close a"])
    table.closed("a")
    #expect(table.drain() == ["open b"])
    table.opened("b", 2)
    #expect(table.drain() == ["2: leased 2"])
    table.release("b")
    #expect(table.drain() == ["close b"])
  }

  @Test func storesWaitForASlotInTheOrderOfAsking() {
    var table = Table(slots: 1)
    table.ask("a", as: 1)
    table.opened("a", 0)
    for (ticket, store) in [(2, "b"), (3, "c"), (4, "b"), (5, "d")] {
      table.ask(store, as: UInt64(ticket))
    }
    _ = table.drain()
    table.release("a")
    for (store, answers) in [("b", ["2: leased 0", "4: leased 0"]), ("c", ["3: leased 0"])] {
      table.closeAll()
      #expect(table.drain() == ["open \(store)"])
      table.opened(store, 0)
      #expect(table.drain() == answers)
      for _ in answers { table.release(store) }
    }
    table.closeAll()
    #expect(table.drain() == ["open d"])
  }

  @Test func anAbsentStoreTakesNoSlot() {
    var table = Table(slots: 1)
    table.ask("a", as: 1, creating: false)
    table.ask("a", as: 2, creating: false)
    table.ask("b", as: 3)
    #expect(table.drain() == ["open a if there"])
    table.opened("a", nil)
    #expect(table.drain() == ["1: absent", "2: absent", "open b"])
    #expect(table.stores.entries.count == 1)
    #expect(table.stores.lease(name("a")) == nil)
  }

  @Test func whoeverWantsTheStoreMadeIsServedAfterItWasFoundAbsent() {
    var table = Table(slots: 1)
    table.ask("a", as: 1, creating: false)
    table.ask("a", as: 2)
    table.ask("a", as: 3, creating: false)
    #expect(table.drain() == ["open a if there"])
    table.opened("a", nil)
    #expect(table.drain() == ["1: absent", "open a"])
    table.opened("a", 5)
    #expect(table.drain() == ["2: leased 5", "3: leased 5"])
  }

  @Test func anEngineThatMakesNothingIsNotAskedForEver() {
    var table = Table(slots: 1)
    table.ask("a", as: 1)
    table.opened("a", nil)
    #expect(table.drain() == ["open a", "1: storage"])
    #expect(table.stores.openCount == 0)
  }

  @Test func aFailureIsToldToAllWhoWaitAndNotKept() {
    var table = Table(slots: 1)
    table.ask("a", as: 1)
    table.ask("a", as: 2)
    table.ask("b", as: 3)
    _ = table.drain()
    table.failed("a", ServiceError(.damaged, ""))
    #expect(table.drain() == ["1: damaged", "2: damaged", "open b"])
    table.opened("b", 1)
    table.release("b")
    _ = table.drain()
    table.ask("a", as: 4)
    table.closed("b")
    #expect(table.drain() == ["close b", "open a"])
  }

  @Test func anErasureWaitsForLeasesAndTheNextCallersForIt() {
    var table = Table(slots: 2)
    table.ask("a", as: 1)
    table.opened("a", 1)
    _ = table.drain()
    table.erase("a", as: 2)
    table.ask("a", as: 3, creating: false)
    table.ask("a", as: 4)
    #expect(table.stores.lease(name("a")) == nil)
    #expect(table.drain() == [])
    table.release("a")
    #expect(table.drain() == ["close a"])
    table.closed("a")
    #expect(table.drain() == ["erase a"])
    #expect(table.stores.openCount == 0)
    table.erased("a", true)
    #expect(table.drain() == ["2: erased true", "open a if there"])
    table.opened("a", nil)
    #expect(table.drain() == ["3: absent", "open a"])
  }

  @Test func aStoreIsReplacedWhileNobodyHasItAndTheNextCallersGetTheOther() {
    var table = Table(slots: 2)
    table.open("a", 1)
    table.replace("a", as: 2)
    table.ask("a", as: 3, creating: false)
    #expect(table.stores.lease(name("a")) == nil)
    #expect(table.drain() == ["close a"])
    table.closed("a")
    #expect(table.drain() == ["replace a"])
    table.erased("a", true)
    #expect(table.drain() == ["2: erased true", "open a if there"])
    table.opened("a", 5)
    #expect(table.drain() == ["3: leased 5"])
  }

  @Test func anErasureThatIsWithdrawnLetsTheOthersGoOn() {
    var table = Table(slots: 2)
    table.ask("a", as: 1)
    table.opened("a", 1)
    table.erase("a", as: 2)
    table.ask("a", as: 3)
    _ = table.drain()
    table.withdraw(2, "a")
    #expect(table.drain() == ["2: unavailable", "3: leased 1"])
    table.withdraw(2, "a")
    #expect(table.drain() == [])
  }

  @Test func aStoreThatFailedIsClosedBeforeItsNextLease() {
    var table = Table(slots: 2)
    table.ask("a", as: 1)
    table.ask("a", as: 2)
    table.opened("a", 1)
    _ = table.drain()
    table.release("a", failed: true)
    #expect(table.stores.lease(name("a")) == nil)
    table.ask("a", as: 3)
    #expect(table.drain() == [])
    table.release("a")
    #expect(table.drain() == ["close a"])
    table.closed("a")
    #expect(table.drain() == ["open a"])
    table.opened("a", 2)
    #expect(table.drain() == ["3: leased 2"])
    #expect(table.stores.lease(name("a")) == 2)
  }

  @Test func aCallerThatGivesUpLeavesTheLine() {
    var table = Table(slots: 1)
    table.ask("a", as: 1)
    table.opened("a", 1)
    table.ask("b", as: 2)
    table.ask("c", as: 3)
    _ = table.drain()
    table.withdraw(2, "b")
    #expect(table.drain() == ["2: unavailable"])
    #expect(table.stores.waitingCount == 1)
    table.release("a")
    table.closed("a")
    #expect(table.drain() == ["close a", "open c"])
  }

  @Test func aStoreWhoseCallerGaveUpStaysOpenForTheNext() {
    var table = Table(slots: 1)
    table.ask("a", as: 1)
    #expect(table.stores.isCertain(1, for: name("a")))
    table.withdraw(1, "a")
    _ = table.drain()
    table.opened("a", 1)
    #expect(table.drain() == [])
    #expect(table.stores.lease(name("a")) == 1)
  }

  @Test func onlyThoseBehindAnErasureOrWithoutSlotAreUncertain() {
    var table = Table(slots: 1)
    table.ask("a", as: 1)
    table.erase("a", as: 2)
    table.ask("a", as: 3)
    table.ask("b", as: 4)
    #expect(table.stores.isCertain(1, for: name("a")))
    #expect(!table.stores.isCertain(3, for: name("a")))
    #expect(!table.stores.isCertain(4, for: name("b")))
  }

  @Test func sweepsCloseWhatWasIdleThroughTwoIntervals() {
    var table = Table(slots: 3)
    table.open("a", 1)
    table.ask("b", as: 9)
    table.opened("b", 2)
    _ = table.drain()
    table.sweep()
    table.sweep()
    #expect(table.drain() == [])
    _ = table.stores.lease(name("a"))
    table.release("a")
    table.sweep()
    table.sweep()
    #expect(table.drain() == [])
    table.sweep()
    #expect(table.drain() == ["close a"])
    table.sweep()
    #expect(table.drain() == [])
  }

  @Test func stoppingWaitsForLeasesAndRefusesTheRest() {
    var table = Table(slots: 2)
    table.ask("a", as: 1)
    table.opened("a", 1)
    table.open("b", 2)
    table.ask("c", as: 3)
    _ = table.drain()
    table.stop(as: 4)
    #expect(table.drain() == ["3: unavailable"])
    table.ask("a", as: 5)
    #expect(table.drain() == ["5: unavailable"])
    #expect(table.stores.lease(name("a")) == nil)
    table.closed("b")
    #expect(table.drain() == [])
    table.release("a")
    #expect(table.drain() == ["close a"])
    table.closed("a")
    #expect(table.drain() == ["4: stopped"])
    table.stop(as: 6)
    #expect(table.drain() == ["6: stopped"])
  }

  @Test func aStoreThatIsBeingOpenedWhenTheServiceStopsIsClosed() {
    var table = Table(slots: 1)
    table.ask("a", as: 1)
    table.ask("b", as: 2)
    table.stop(as: 3)
    #expect(Set(table.drain()) == ["open a", "1: unavailable", "2: unavailable"])
    table.opened("a", 1)
    #expect(table.drain() == ["close a"])
    table.closed("a")
    #expect(table.drain() == ["3: stopped"])
  }

  @Test func manyUsesOfOneStoreLeaveNoTrail() {
    var table = Table(slots: 2)
    table.open("a", 1)
    for _ in 0..<10_000 {
      _ = table.stores.lease(name("a"))
      table.release("a")
    }
    #expect(table.stores.idle.count < 100)
  }

  @Test(arguments: 0..<20)
  func randomPlaysKeepTheRules(_ seed: UInt64) {
    var play = RandomPlay(seed: seed)
    play.run(steps: 2_000)
    #expect(play.broken == [])
    play.finish()
    #expect(play.broken == [])
  }

  private func name(_ text: String) -> StoreName { Table.name(text) }
}
