import Testing

@testable import Stores

/// The rules of leasing, tested without an engine: a number takes the place of an open store.
@Suite struct OpenStoresTests {
  private typealias Stores = OpenStores<Int>

  @Test func aNameIsOpenedOnceHoweverManyAsk() {
    var recorded = RecordedStores(slots: 2)
    recorded.ask("a", as: 1)
    recorded.ask("a", as: 2)
    recorded.ask("a", as: 3, creating: false)
    #expect(recorded.drain() == ["open a"])
    recorded.opened("a", 7)
    #expect(recorded.drain() == ["1: leased 7", "2: leased 7", "3: leased 7"])
    #expect(recorded.stores.lease(name("a")) == 7)
    #expect(recorded.stores.openCount == 1)
    #expect(recorded.stores.leasedCount == 1)
  }

  @Test func theLongestIdleStoreMakesWayAndIsClosedFirst() {
    var recorded = RecordedStores(slots: 2)
    recorded.open("a", 1)
    recorded.open("b", 2)
    _ = recorded.stores.lease(name("a"))
    recorded.release("a")
    #expect(recorded.drain() == [])
    recorded.ask("c", as: 3)
    #expect(recorded.drain() == ["close b"])
    #expect(recorded.stores.lease(name("b")) == nil)
    #expect(recorded.stores.openCount == 2)
    recorded.closed("b")
    #expect(recorded.drain() == ["open c"])
    #expect(recorded.stores.openCount == 2)
  }

  @Test func aLeasedStoreIsNeverClosed() {
    var recorded = RecordedStores(slots: 1)
    recorded.ask("a", as: 1)
    recorded.opened("a", 1)
    _ = recorded.drain()
    recorded.ask("b", as: 2)
    recorded.ask("c", as: 3)
    #expect(recorded.drain() == [])
    _ = recorded.stores.lease(name("a"))
    recorded.release("a")
    #expect(recorded.drain() == [])
    recorded.release("a")
    #expect(recorded.drain() == ["close a"])
    recorded.closed("a")
    #expect(recorded.drain() == ["open b"])
    recorded.opened("b", 2)
    #expect(recorded.drain() == ["2: leased 2"])
    recorded.release("b")
    #expect(recorded.drain() == ["close b"])
  }

  @Test func storesWaitForASlotInTheOrderOfAsking() {
    var recorded = RecordedStores(slots: 1)
    recorded.ask("a", as: 1)
    recorded.opened("a", 0)
    for (ticket, store) in [(2, "b"), (3, "c"), (4, "b"), (5, "d")] {
      recorded.ask(store, as: UInt64(ticket))
    }
    _ = recorded.drain()
    recorded.release("a")
    for (store, answers) in [("b", ["2: leased 0", "4: leased 0"]), ("c", ["3: leased 0"])] {
      recorded.closeAll()
      #expect(recorded.drain() == ["open \(store)"])
      recorded.opened(store, 0)
      #expect(recorded.drain() == answers)
      for _ in answers { recorded.release(store) }
    }
    recorded.closeAll()
    #expect(recorded.drain() == ["open d"])
  }

  @Test func anAbsentStoreTakesNoSlot() {
    var recorded = RecordedStores(slots: 1)
    recorded.ask("a", as: 1, creating: false)
    recorded.ask("a", as: 2, creating: false)
    recorded.ask("b", as: 3)
    #expect(recorded.drain() == ["open a if there"])
    recorded.opened("a", nil)
    #expect(recorded.drain() == ["1: absent", "2: absent", "open b"])
    #expect(recorded.stores.entries.count == 1)
    #expect(recorded.stores.lease(name("a")) == nil)
  }

  @Test func whoeverWantsTheStoreMadeIsServedAfterItWasFoundAbsent() {
    var recorded = RecordedStores(slots: 1)
    recorded.ask("a", as: 1, creating: false)
    recorded.ask("a", as: 2)
    recorded.ask("a", as: 3, creating: false)
    #expect(recorded.drain() == ["open a if there"])
    recorded.opened("a", nil)
    #expect(recorded.drain() == ["1: absent", "open a"])
    recorded.opened("a", 5)
    #expect(recorded.drain() == ["2: leased 5", "3: leased 5"])
  }

  @Test func anEngineThatMakesNothingIsNotAskedForEver() {
    var recorded = RecordedStores(slots: 1)
    recorded.ask("a", as: 1)
    recorded.opened("a", nil)
    #expect(recorded.drain() == ["open a", "1: storage"])
    #expect(recorded.stores.openCount == 0)
  }

  @Test func aFailureIsToldToAllWhoWaitAndNotKept() {
    var recorded = RecordedStores(slots: 1)
    recorded.ask("a", as: 1)
    recorded.ask("a", as: 2)
    recorded.ask("b", as: 3)
    _ = recorded.drain()
    recorded.failed("a", ServiceError(.damaged, ""))
    #expect(recorded.drain() == ["1: damaged", "2: damaged", "open b"])
    recorded.opened("b", 1)
    recorded.release("b")
    _ = recorded.drain()
    recorded.ask("a", as: 4)
    recorded.closed("b")
    #expect(recorded.drain() == ["close b", "open a"])
  }

  @Test func anErasureWaitsForLeasesAndTheNextCallersForIt() {
    var recorded = RecordedStores(slots: 2)
    recorded.ask("a", as: 1)
    recorded.opened("a", 1)
    _ = recorded.drain()
    recorded.erase("a", as: 2)
    recorded.ask("a", as: 3, creating: false)
    recorded.ask("a", as: 4)
    #expect(recorded.stores.lease(name("a")) == nil)
    #expect(recorded.drain() == [])
    recorded.release("a")
    #expect(recorded.drain() == ["close a"])
    recorded.closed("a")
    #expect(recorded.drain() == ["erase a"])
    #expect(recorded.stores.openCount == 0)
    recorded.erased("a", true)
    #expect(recorded.drain() == ["2: erased true", "open a if there"])
    recorded.opened("a", nil)
    #expect(recorded.drain() == ["3: absent", "open a"])
  }

  @Test func nobodyOpensAStoreWhileItsFileIsUsedAlone() {
    var recorded = RecordedStores(slots: 2)
    recorded.open("a", 1)
    recorded.useAlone("a", as: 2)
    recorded.ask("a", as: 3, creating: false)
    #expect(recorded.stores.lease(name("a")) == nil)
    #expect(recorded.drain() == ["close a"])
    recorded.closed("a")
    #expect(recorded.drain() == ["2: alone"])
    recorded.usedAlone("a")
    #expect(recorded.drain() == ["open a if there"])
    recorded.opened("a", 5)
    #expect(recorded.drain() == ["3: leased 5"])
  }

  @Test func anErasureThatIsWithdrawnLetsTheOthersGoOn() {
    var recorded = RecordedStores(slots: 2)
    recorded.ask("a", as: 1)
    recorded.opened("a", 1)
    recorded.erase("a", as: 2)
    recorded.ask("a", as: 3)
    _ = recorded.drain()
    recorded.withdraw(2, "a")
    #expect(recorded.drain() == ["2: unavailable", "3: leased 1"])
    recorded.withdraw(2, "a")
    #expect(recorded.drain() == [])
  }

  @Test func aStoreThatFailedIsClosedBeforeItsNextLease() {
    var recorded = RecordedStores(slots: 2)
    recorded.ask("a", as: 1)
    recorded.ask("a", as: 2)
    recorded.opened("a", 1)
    _ = recorded.drain()
    recorded.release("a", failed: true)
    #expect(recorded.stores.lease(name("a")) == nil)
    recorded.ask("a", as: 3)
    #expect(recorded.drain() == [])
    recorded.release("a")
    #expect(recorded.drain() == ["close a"])
    recorded.closed("a")
    #expect(recorded.drain() == ["open a"])
    recorded.opened("a", 2)
    #expect(recorded.drain() == ["3: leased 2"])
    #expect(recorded.stores.lease(name("a")) == 2)
  }

  @Test func aCallerThatGivesUpLeavesTheLine() {
    var recorded = RecordedStores(slots: 1)
    recorded.ask("a", as: 1)
    recorded.opened("a", 1)
    recorded.ask("b", as: 2)
    recorded.ask("c", as: 3)
    _ = recorded.drain()
    recorded.withdraw(2, "b")
    #expect(recorded.drain() == ["2: unavailable"])
    #expect(recorded.stores.waitingCount == 1)
    recorded.release("a")
    recorded.closed("a")
    #expect(recorded.drain() == ["close a", "open c"])
  }

  @Test func aStoreWhoseCallerGaveUpStaysOpenForTheNext() {
    var recorded = RecordedStores(slots: 1)
    recorded.ask("a", as: 1)
    #expect(recorded.stores.isCertain(1, for: name("a")))
    recorded.withdraw(1, "a")
    _ = recorded.drain()
    recorded.opened("a", 1)
    #expect(recorded.drain() == [])
    #expect(recorded.stores.lease(name("a")) == 1)
  }

  @Test func onlyThoseBehindAnErasureOrWithoutSlotAreUncertain() {
    var recorded = RecordedStores(slots: 1)
    recorded.ask("a", as: 1)
    recorded.erase("a", as: 2)
    recorded.ask("a", as: 3)
    recorded.ask("b", as: 4)
    #expect(recorded.stores.isCertain(1, for: name("a")))
    #expect(!recorded.stores.isCertain(3, for: name("a")))
    #expect(!recorded.stores.isCertain(4, for: name("b")))
  }

  @Test func sweepsCloseWhatWasIdleThroughTwoIntervals() {
    var recorded = RecordedStores(slots: 3)
    recorded.open("a", 1)
    recorded.ask("b", as: 9)
    recorded.opened("b", 2)
    _ = recorded.drain()
    recorded.sweep()
    recorded.sweep()
    #expect(recorded.drain() == [])
    _ = recorded.stores.lease(name("a"))
    recorded.release("a")
    recorded.sweep()
    recorded.sweep()
    #expect(recorded.drain() == [])
    recorded.sweep()
    #expect(recorded.drain() == ["close a"])
    recorded.sweep()
    #expect(recorded.drain() == [])
  }

  @Test func stoppingWaitsForLeasesAndRefusesTheRest() {
    var recorded = RecordedStores(slots: 2)
    recorded.ask("a", as: 1)
    recorded.opened("a", 1)
    recorded.open("b", 2)
    recorded.ask("c", as: 3)
    _ = recorded.drain()
    recorded.stop(as: 4)
    #expect(recorded.drain() == ["3: unavailable"])
    recorded.ask("a", as: 5)
    #expect(recorded.drain() == ["5: unavailable"])
    #expect(recorded.stores.lease(name("a")) == nil)
    recorded.closed("b")
    #expect(recorded.drain() == [])
    recorded.release("a")
    #expect(recorded.drain() == ["close a"])
    recorded.closed("a")
    #expect(recorded.drain() == ["4: stopped"])
    recorded.stop(as: 6)
    #expect(recorded.drain() == ["6: stopped"])
  }

  @Test func aStoreThatIsBeingOpenedWhenTheServiceStopsIsClosed() {
    var recorded = RecordedStores(slots: 1)
    recorded.ask("a", as: 1)
    recorded.ask("b", as: 2)
    recorded.stop(as: 3)
    #expect(Set(recorded.drain()) == ["open a", "1: unavailable", "2: unavailable"])
    recorded.opened("a", 1)
    #expect(recorded.drain() == ["close a"])
    recorded.closed("a")
    #expect(recorded.drain() == ["3: stopped"])
  }

  @Test func manyUsesOfOneStoreLeaveNoTrail() {
    var recorded = RecordedStores(slots: 2)
    recorded.open("a", 1)
    for _ in 0..<10_000 {
      _ = recorded.stores.lease(name("a"))
      recorded.release("a")
    }
    #expect(recorded.stores.idle.count < 100)
  }

  @Test(arguments: 0..<20)
  func randomSimulationsKeepTheRules(_ seed: UInt64) {
    var simulation = OpenStoresSimulation(seed: seed)
    simulation.run(steps: 2_000)
    #expect(simulation.broken == [])
    simulation.finish()
    #expect(simulation.broken == [])
  }

  private func name(_ text: String) -> StoreName { RecordedStores.name(text) }
}
