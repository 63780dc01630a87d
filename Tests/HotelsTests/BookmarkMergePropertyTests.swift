import Documents
import Hotels
import StoreTesting
import TestSupport
import Testing

/// The schedules for each property (FAULTS Y01).
private let schedules: Range<UInt64> = 0..<repetitions(40, nightly: 20_000)

/// Random schedules over two to five copies of the list. A failing test's name has the seed.
@Suite struct BookmarkMergePropertyTests {
  private struct Schedule {
    var random: SeededGenerator
    var copies: [Replica]
    var added: Set<HotelID> = []
    var removed: Set<HotelID> = []
    var count = 0

    init(seed: UInt64) throws {
      random = SeededGenerator(seed: seed)
      var first = Replica()
      let base = BookmarkList(try (0..<4).map { try hotelID("base\($0)") })
      try first.put(base)
      added = Set(base.hotels)
      copies = Array(repeating: first, count: Int.random(in: 2...5, using: &random))
    }

    var index: Int { mutating get { copies.indices.randomElement(using: &random) ?? 0 } }

    /// One add or remove on what an app sees of a copy. Every id is added once only.
    mutating func edit(_ index: Int) throws {
      var list = try copies[index].winner
      if Bool.random(using: &random), let gone = list.hotels.randomElement(using: &random) {
        list.remove([gone])
        removed.insert(gone)
      } else {
        count += 1
        let id = try hotelID("h\(count)")
        list.append([id])
        added.insert(id)
      }
      try copies[index].put(list)
    }

    /// Takes ids off a copy as a server does, which merges first.
    mutating func remove(_ ids: Set<HotelID>, from index: Int) throws {
      try copies[index].merge()
      var list = try copies[index].winner
      list.remove(ids)
      removed.formUnion(ids)
      try copies[index].put(list)
    }

    /// One copy pulls from another and merges. In half of the cases, the other copy then pulls the result.
    mutating func exchange(_ source: Int, _ target: Int) throws {
      try copies[target].pull(from: copies[source])
      try copies[target].merge()
      if Bool.random(using: &random) { try copies[source].pull(from: copies[target]) }
    }

    /// Runs random steps.
    mutating func run(_ steps: Int) throws {
      for _ in 0..<steps {
        let index = index
        switch Int.random(in: 0..<6, using: &random) {
        case 0, 1: try copies[index].pull(from: copies[self.index])
        case 2: try copies[index].merge()
        default: try edit(index)
        }
      }
    }

    /// Whether all copies have the same single live revision.
    var isSettled: Bool {
      let first = copies.first?.tree?.winner?.revision
      return copies.allSatisfy { $0.isSettled && $0.tree?.winner?.revision == first }
    }

    /// Exchanges everything between all copies, in a random order, until all copies know everything.
    mutating func exchangeAll() throws {
      for _ in 0..<2 {
        for target in copies.indices.shuffled(using: &random) {
          for source in copies.indices.shuffled(using: &random) where source != target {
            try copies[target].pull(from: copies[source])
          }
        }
      }
    }
  }

  /// Asserts that all copies show the same list, and that a merge of any copy makes the same revision.
  private func expectAgreement(_ schedule: Schedule) throws -> BookmarkList {
    let merged = try schedule.copies.map { try $0.resolved }
    let first = try #require(merged.first)
    #expect(merged.allSatisfy { $0 == first })
    let written = try schedule.copies.map { copy in
      var copy = copy
      try copy.merge()
      #expect(copy.isSettled)
      #expect(try copy.winner == first)
      return copy.tree?.winner?.revision
    }
    #expect(Set(written).count == 1)
    return first
  }

  @Test(.bug(id: "Y01"), arguments: schedules)
  func addsAndRemovesSurviveAFork(seed: UInt64) throws {
    var schedule = try Schedule(seed: seed)
    for _ in 0..<Int.random(in: 1...12, using: &schedule.random) {
      try schedule.edit(schedule.index)
    }
    try schedule.exchangeAll()
    let merged = try expectAgreement(schedule)
    #expect(Set(merged.hotels) == schedule.added.subtracting(schedule.removed))
  }

  /// Copies that edit, pull and merge at random.
  @Test(.bug(id: "Y01"), arguments: schedules)
  func addsAndRemovesSurviveAnySchedule(seed: UInt64) throws {
    var schedule = try Schedule(seed: seed &+ 1_000_000)
    try schedule.run(Int.random(in: 5...60, using: &schedule.random))
    try schedule.exchangeAll()
    let merged = try expectAgreement(schedule)
    #expect(Set(merged.hotels) == schedule.added.subtracting(schedule.removed))
  }

  /// As in sync, a pull copies the lists of leaves only, without those of their ancestors.
  @Test(.bug(id: "Y01"), arguments: schedules)
  func addsSurviveWhereFormerListsAreNotKnown(seed: UInt64) throws {
    var schedule = try Schedule(seed: seed &+ 2_000_000)
    for index in schedule.copies.indices { schedule.copies[index].pullsLeavesOnly = true }
    try schedule.run(Int.random(in: 5...60, using: &schedule.random))
    let gone = Set(schedule.added.filter { _ in Bool.random(using: &schedule.random) })
    for index in schedule.copies.indices { try schedule.remove(gone, from: index) }
    try schedule.run(Int.random(in: 5...30, using: &schedule.random))
    var rounds = 0
    repeat {
      try schedule.exchangeAll()
      for index in schedule.copies.indices { try schedule.copies[index].merge() }
      rounds += 1
    } while !schedule.isSettled && rounds < 10
    #expect(rounds < 10)
    let merged = Set(try expectAgreement(schedule).hotels)
    #expect(merged.isSuperset(of: schedule.added.subtracting(schedule.removed)))
    #expect(merged.isDisjoint(with: gone))
  }

  /// Servers that merge what they pull. An id that every server has removed stays removed, whatever is exchanged,
  /// merged and changed later, even with phones' older copies.
  @Test(.bug(id: "Y01"), arguments: schedules)
  func removedEverywhereStaysAway(seed: UInt64) throws {
    var schedule = try Schedule(seed: seed &+ 3_000_000)
    try schedule.run(Int.random(in: 5...40, using: &schedule.random))
    // Each copy merges what it has and removes a random half of all ids.
    let gone = Set(schedule.added.filter { _ in Bool.random(using: &schedule.random) })
    for index in schedule.copies.indices.shuffled(using: &schedule.random) {
      try schedule.remove(gone, from: index)
    }
    for _ in 0..<5 {
      try schedule.run(Int.random(in: 1...10, using: &schedule.random))
      for copy in schedule.copies { #expect(try gone.isDisjoint(with: copy.resolved.hotels)) }
    }
    try schedule.exchangeAll()
    let merged = Set(try expectAgreement(schedule).hotels)
    #expect(merged.isDisjoint(with: gone))
    #expect(merged.isSuperset(of: schedule.added.subtracting(schedule.removed)))
  }

  /// One server that merges everything that arrives, and phones that sync with it and never merge.
  @Test(.bug(id: "Y01"), arguments: schedules)
  func phonesAndTheirServerLoseNeitherAddsNorRemoves(seed: UInt64) throws {
    var schedule = try Schedule(seed: seed &+ 4_000_000)
    for _ in 0..<Int.random(in: 5...60, using: &schedule.random) {
      let phone = schedule.index
      switch Int.random(in: 0..<6, using: &schedule.random) {
      case 0, 1: if phone > 0 { try schedule.exchange(phone, 0) }
      case 2: if phone > 0 { try schedule.copies[phone].pull(from: schedule.copies[0]) }
      default: try schedule.edit(phone)
      }
    }
    try schedule.exchangeAll()
    let merged = Set(try expectAgreement(schedule).hotels)
    #expect(merged == schedule.added.subtracting(schedule.removed))
  }

  /// Servers that merge everything that arrives and sync with each other in any order.
  @Test(.bug(id: "Y01"), arguments: schedules)
  func serversAmongEachOtherLoseNeitherAddsNorRemoves(seed: UInt64) throws {
    var schedule = try Schedule(seed: seed &+ 5_000_000)
    for _ in 0..<Int.random(in: 5...60, using: &schedule.random) {
      let index = schedule.index
      if Bool.random(using: &schedule.random) {
        try schedule.exchange(schedule.index, index)
      } else {
        try schedule.edit(index)
      }
    }
    try schedule.exchangeAll()
    let merged = Set(try expectAgreement(schedule).hotels)
    #expect(merged == schedule.added.subtracting(schedule.removed))
  }
}
