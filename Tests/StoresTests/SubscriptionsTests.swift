import Documents
import StoreTesting
import Synchronization
import Testing

@testable import Stores

/// What subscriptions are told, and what ends them.
@Suite(.timeLimit(.minutes(60))) struct SubscriptionsTests {
  private let subscriptions = Subscriptions()
  private let ann: Author
  private let store = StoreName.system
  private let other: StoreName

  /// A right that a test ends, and how often it was looked up.
  private final class Right: Sendable {
    let looks = Atomic(0)
    let holds = Atomic(true)

    func look() -> Bool {
      looks.add(1, ordering: .relaxed)
      return holds.load(ordering: .relaxed)
    }
  }

  init() throws {
    ann = .user(try #require(AccountID(String(repeating: "1", count: 32))))
    other = .named(try #require(DatabaseName("other")))
  }

  private func reader(
    _ right: Right = Right(), named name: String = "a",
    _ scope: Subscription.Scope = .store(.system)
  ) -> Subscription {
    let reader = Subscription(testing: scope, author: ann, right: name, mayRead: { right.look() })
    subscriptions.add(reader)
    return reader
  }

  private func news(_ stores: Set<StoreName> = [.system], rights: Bool = false) -> Subscription.News
  {
    var news = Subscription.News()
    (news.stores, news.rights) = (stores, rights)
    return news
  }

  @Test func firstNewsAreThereAtOnce() async {
    #expect(await reader().next(by: nil) == .news(news()))
  }

  @Test func commitsAreCoalesced() async {
    let reader = reader()
    for _ in 0..<1_000 { subscriptions.wake(store) }
    subscriptions.close()
    #expect(await reader.next(by: nil) == .end)
    let other = Subscription(testing: .store(store))
    for _ in 0..<1_000 { other.tell(of: [store]) }
    #expect(await other.next(by: nil) == .news(news()))
    let next = Task { await other.next(by: nil) }
    try? await Task.sleep(for: .milliseconds(20))
    other.end(.stopping)
    #expect(await next.value == .end)
  }

  @Test func everyReaderIsWokenAndAllEndTogether() async {
    let readers = (0..<3).map { _ in reader() }
    #expect(subscriptions.count == 3 && subscriptions.stores == [store])
    for reader in readers { #expect(await reader.next(by: nil) == .news(news())) }
    subscriptions.wake(store)
    for reader in readers { #expect(await reader.next(by: nil) == .news(news())) }
    subscriptions.close()
    for reader in readers { #expect(await reader.next(by: nil) == .end) }
    #expect(await reader().next(by: nil) == .end)
  }

  @Test func aReaderThatGoesIsForgotten() async {
    let (gone, reader) = (reader(), reader())
    for _ in 0..<2 { subscriptions.remove(gone) }
    #expect(subscriptions.count == 1)
    subscriptions.remove(reader)
    subscriptions.wake(store)
    #expect(subscriptions.count == 0 && subscriptions.stores.isEmpty && subscriptions.all.isEmpty)
  }

  @Test func aSleepingReaderIsWokenByAWriterElsewhere() async {
    let reader = reader()
    #expect(await reader.news() != nil)
    let writer = Task {
      while !Task.isCancelled {
        subscriptions.wake(store)
        await Task.yield()
      }
    }
    #expect(await reader.news() != nil)
    writer.cancel()
  }

  @Test func theEndOfAStoreEndsItsReaderAndIsNewsForAPerson() async {
    let (reader, person) = (reader(), reader(named: "b", .person(reading: [store])))
    for each in [reader, person] { _ = await each.news() }
    subscriptions.end(store)
    #expect(await reader.lastWake() == .end)
    #expect(reader.end == .erased && person.end == nil)
    while true {
      if let news = await person.news(), news.stores == [store] { break }
    }
  }

  @Test func aPersonIsToldOfTheStoresThatItFollows() async {
    let reader = reader(named: "b", .person(reading: [store]))
    _ = await reader.news()
    subscriptions.follow([other], reader)
    #expect(Set(subscriptions.stores) == [other])
    while await reader.news()?.stores != [other] {}
    subscriptions.follow([], reader)
    #expect(subscriptions.stores.isEmpty && subscriptions.count == 1)
  }

  /// Regression: a right that ended between the request's check and the beginning of its feed would never be missed.
  @Test func aRightIsLookedUpWhenItsReaderIsAdded() async {
    let right = Right()
    right.holds.store(false, ordering: .relaxed)
    let reader = reader(right)
    #expect(await reader.lastWake() == .end)
    #expect(reader.end == .notAllowed)
  }

  @Test func aRightThatEndsEndsThoseWhoReadByIt() async {
    let (shared, own) = (Right(), Right())
    let readers = [reader(shared), reader(shared), reader(own, named: "b")]
    while own.looks.load(ordering: .relaxed) == 0 { await Task.yield() }
    shared.holds.store(false, ordering: .relaxed)
    subscriptions.checkRights(of: [ann])
    for reader in readers.prefix(2) {
      #expect(await reader.lastWake() == .end)
      #expect(reader.end == .notAllowed)
    }
    #expect(readers[2].end == nil)
    #expect(shared.looks.load(ordering: .relaxed) <= 3)
  }

  @Test func nobodyIsLookedUpWhomNothingConcerns() async {
    let right = Right()
    let reader = reader(right)
    while right.looks.load(ordering: .relaxed) == 0 { await Task.yield() }
    subscriptions.checkRights(of: [.administrator])
    subscriptions.checkRights(in: other)
    subscriptions.wake(store)
    let asked = Right()
    let late = Subscription(testing: .person(reading: []), right: "b", mayRead: { asked.look() })
    subscriptions.add(late)
    while await late.news()?.rights != true {}
    #expect(right.looks.load(ordering: .relaxed) == 1 && reader.end == nil)
    subscriptions.checkRights(in: store)
    while right.looks.load(ordering: .relaxed) == 1 { await Task.yield() }
    subscriptions.checkAllRights()
    while right.looks.load(ordering: .relaxed) == 2 { await Task.yield() }
  }

  @Test func manyRightsAreLookedUpOnceEach() async {
    let rights = (0..<100).map { _ in Right() }
    let readers = rights.enumerated().map { number, right in
      reader(right, named: "\(number)", .person(reading: [store]))
    }
    for reader in readers { while await reader.news()?.rights != true {} }
    #expect(rights.allSatisfy { $0.looks.load(ordering: .relaxed) == 1 })
  }
}
