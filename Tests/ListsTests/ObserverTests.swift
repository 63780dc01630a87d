import Accounts
import Documents
import StoreTesting
import Stores
import TestSupport
import Testing

@testable import Lists

@Suite(.timeLimit(.minutes(60))) struct ObserverTests {
  private func write(
    _ fixture: ListFixture, _ id: String, _ value: JSONValue?, in name: StoreName
  ) async throws {
    let id = try DocumentID(id)
    try await fixture.stores.withStore(name) { store in
      try await store.update { changes in
        let base = try changes.view.tree(id)?.winner.flatMap { $0.isDeleted ? nil : $0.revision }
        let body = try value.map { try DocumentBody($0) } ?? .empty
        try changes.put(id, base: base, body: body, isDeleted: value == nil)
      }
    }
  }

  private func told(_ observer: inout Observer) async throws -> [String] {
    var told: [String] = []
    for event in try await observer.readMemberships() { told.append(Self.text(event)) }
    for store in observer.stores.sorted(by: { $0.key < $1.key }) {
      while true {
        let (events, isComplete) = try await observer.read(store)
        told += events.map(Self.text)
        if isComplete { break }
      }
    }
    return told
  }

  private static func text(_ event: ObserverEvent) -> String {
    let data = (try? JSONValue(parsing: event.data, limits: .request)) ?? .null
    let id = data["id"]?.string ?? data["role"]?.string ?? ""
    return event.name.rawValue + " " + id + (data["deleted"]?.bool == true ? " deleted" : "")
  }

  @Test func changesAndDeletionsAreToldOnceAndAfterABreakFromThere() async throws {
    let fixture = try ListFixture()
    let me = try await fixture.account("ann")
    let own = StoreName.user(me)
    var observer = try await Observer.fromNow(
      fixture.lists, account: me, own: own, Observer.Filter())
    try await write(fixture, "a", ["n": 1], in: own)
    try await write(fixture, "b", ["n": 1], in: own)
    #expect(try await told(&observer) == ["change a", "change b"])
    let token = try #require(ObserverToken(observer.text))
    try await write(fixture, "a", nil, in: own)
    #expect(try await told(&observer) == ["change a deleted"])
    var again = try await Observer.going(
      on: token, fixture.lists, account: me, own: own, Observer.Filter())
    #expect(try await told(&again) == ["change a deleted"])
    #expect(try await told(&again) == [])
  }

  @Test func forgottenDeletionRewindsWhoeverWasNotToldOfIt() async throws {
    let fixture = try ListFixture()
    let me = try await fixture.account("ann")
    let own = StoreName.user(me)
    try await write(fixture, "a", ["n": 1], in: own)
    try await write(fixture, "b", ["n": 1], in: own)
    var awake = try await Observer.fromNow(
      fixture.lists, account: me, own: own, Observer.Filter())
    let slept = try #require(ObserverToken(awake.text))
    try await write(fixture, "a", nil, in: own)
    #expect(try await told(&awake) == ["change a deleted"])
    let seen = try #require(ObserverToken(awake.text))
    fixture.clock.advance(seconds: 86_400)
    let now = fixture.clock.now
    let removed = try await fixture.stores.withExisting(own) { store in
      try await store.forget(sparing: DocumentID(stored: "none")) { $0 < now }
    }
    #expect(removed.removed[.tombstones] == 1)
    #expect(try await told(&awake) == [])
    for (token, expected) in [(seen, [String]()), (slept, ["rewound ", "change b"])] {
      var again = try await Observer.going(
        on: token, fixture.lists, account: me, own: own, Observer.Filter())
      #expect(try await told(&again) == expected)
      #expect(try await told(&again) == [])
    }
    var anew = try await Observer.fromStart(
      fixture.lists, account: me, own: own, Observer.Filter())
    #expect(try await told(&anew) == ["change b"])
  }

  @Test func oneItemOrOneTypeIsAllThatIsAskedFor() async throws {
    let fixture = try ListFixture()
    let me = try await fixture.account("ann")
    let own = StoreName.user(me)
    var item = try await Observer.fromNow(
      fixture.lists, account: me, own: own, Observer.Filter(id: try DocumentID("a")))
    var type = try await Observer.fromNow(
      fixture.lists, account: me, own: own, Observer.Filter(type: "hotel"))
    try await write(fixture, "a", ["type": "plan"], in: own)
    try await write(fixture, "b", ["type": "hotel"], in: own)
    #expect(try await told(&item) == ["change a"])
    #expect(try await told(&type) == ["change b"])
    try await write(fixture, "b", nil, in: own)
    try await write(fixture, "a", nil, in: own)
    #expect(try await told(&item) == ["change a deleted"])
    #expect(try await told(&type) == ["change b deleted"])
  }

  @Test func listsAreJoinedFromTheirBeginningAndLeft() async throws {
    let fixture = try ListFixture()
    let (ann, ben) = (try await fixture.account("ann"), try await fixture.account("ben"))
    let list = try await fixture.list(of: ann, "ann")
    try await write(fixture, "h", ["type": "hotel"], in: .list(list))
    var observer = try await Observer.fromNow(
      fixture.lists, account: ben, own: .user(ben), Observer.Filter())
    #expect(try await told(&observer) == [])
    try await fixture.lists.putMember("ben", role: .reader, on: list, by: ann, as: .server)
    #expect(try await told(&observer) == [])
    try await fixture.join(list, ben, "ben", as: .reader, by: ann)
    let joined = try await told(&observer)
    #expect(joined.first == "joined reader" && joined.contains("change h"))
    #expect(joined.contains("change " + list.text))
    try await fixture.lists.putMember("ben", role: .editor, on: list, by: ann, as: .server)
    #expect(try await told(&observer) == ["joined editor", "change " + list.text])
    let token = try #require(ObserverToken(observer.text))
    try await fixture.lists.removeMember("ben", from: list, by: ann, as: .server)
    try await write(fixture, "secret", [:], in: .list(list))
    #expect(try await told(&observer) == ["left "])
    var late = try await Observer.going(
      on: token, fixture.lists, account: ben, own: .user(ben), Observer.Filter())
    #expect(try await told(&late) == ["left "])
  }

  @Test func aDamagedListLeavesOtherListsAndTheStreamAsTheyAre() async throws {
    let fixture = try ListFixture()
    let ann = try await fixture.account("ann")
    let (one, two) = (
      try await fixture.list(of: ann, "ann"), try await fixture.list(of: ann, "ann")
    )
    try await write(fixture, "h", ["type": "hotel"], in: .list(two))
    await fixture.stores.close()
    let damaged = try ListFixture(fixture.engine, without: [ListDocument.id(of: one).text])
    let page = try await damaged.lists.lists(of: ann, after: nil, limit: 10)
    #expect(page.lists.map(\.id) == [two] && page.damaged == [one])
    var all = try await Observer.fromStart(
      damaged.lists, account: ann, own: .user(ann), Observer.Filter())
    #expect(try await told(&all).contains("change h"))
    var single = try await Observer.fromStart(
      damaged.lists, account: ann, own: .user(ann), Observer.Filter(list: one))
    await #expect(throws: ServiceError.self) { _ = try await told(&single) }
  }

  @Test func aTokenOfAllListsServesAnObserverOfOne() async throws {
    let fixture = try ListFixture()
    let me = try await fixture.account("ann")
    let own = StoreName.user(me)
    let lists = [
      try await fixture.list(of: me, "ann"), try await fixture.list(of: me, "ann"),
    ]
    let all = try await Observer.fromNow(
      fixture.lists, account: me, own: own, Observer.Filter())
    let token = try #require(ObserverToken(all.text))
    try await write(fixture, "a", [:], in: .list(lists[0]))
    try await write(fixture, "b", [:], in: .list(lists[1]))
    var one = try await Observer.going(
      on: token, fixture.lists, account: me, own: own, Observer.Filter(list: lists[1]))
    #expect(try await told(&one) == ["change b"])
    #expect(!one.isOver)
  }

  @Test func anEarlierStateIsToldAsRewound() async throws {
    let fixture = try ListFixture()
    let me = try await fixture.account("ann")
    let own = StoreName.user(me)
    var observer = try await Observer.fromNow(
      fixture.lists, account: me, own: own, Observer.Filter())
    try await write(fixture, "a", [:], in: own)
    try await write(fixture, "b", [:], in: own)
    #expect(try await told(&observer).count == 2)
    _ = try await fixture.stores.erase(own)
    try await write(fixture, "a", [:], in: own)
    #expect(try await told(&observer) == ["rewound ", "change a"])
    #expect(try await told(&observer) == [])
  }

  @Test func theTokenOfAllListsThatOneMayBeOnIsShortEnough() throws {
    var generator = SeededGenerator(seed: 1)
    var token = ObserverToken(own: .init(epoch: [255, 255, 255], sequence: 1 << 34))
    for _ in 0..<ListLimits.perAccount {
      token.lists[.random(using: &generator)] = .init(epoch: [1, 2, 3], sequence: (1 << 35) - 1)
    }
    #expect(token.text.utf8.count <= ObserverToken.maximumBytes)
    #expect(ObserverToken(token.text) == token)
    #expect(ObserverToken(String(token.text.dropLast(2))) == nil)
    #expect(ObserverToken("") == nil && ObserverToken("1-abc") == nil)
  }
}
