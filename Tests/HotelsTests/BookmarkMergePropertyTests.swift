import Documents
import Hotels
import StoreTesting
import Testing

/// Seeded schedules over two to four copies of the list. A failing seed is in the test's name.
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
      copies = Array(repeating: first, count: Int.random(in: 2...4, using: &random))
    }

    var place: Int { mutating get { copies.indices.randomElement(using: &random) ?? 0 } }

    /// One add or remove on what an app sees of a copy. Every id is added once only.
    mutating func edit(_ place: Int) throws {
      var list = try copies[place].winner
      if Bool.random(using: &random), let gone = list.hotels.randomElement(using: &random) {
        list.remove([gone])
        removed.insert(gone)
      } else {
        count += 1
        let id = try hotelID("h\(count)")
        list.append([id])
        added.insert(id)
      }
      try copies[place].put(list)
    }

    /// Exchanges everything, in an order of its own each time, until nobody learns anything.
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

  /// Everybody sees the same, and writing it down anywhere makes the same revision.
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

  @Test(arguments: 0..<300 as Range<UInt64>)
  func addsAndRemovesSurviveAFork(seed: UInt64) throws {
    var schedule = try Schedule(seed: seed)
    for _ in 0..<Int.random(in: 1...12, using: &schedule.random) {
      try schedule.edit(schedule.place)
    }
    try schedule.exchangeAll()
    let merged = try expectAgreement(schedule)
    #expect(Set(merged.hotels) == schedule.added.subtracting(schedule.removed))
  }

  @Test(arguments: 0..<300 as Range<UInt64>)
  func addsSurviveAnyScheduleOfEditsExchangesAndMerges(seed: UInt64) throws {
    var schedule = try Schedule(seed: seed &+ 1_000)
    for _ in 0..<Int.random(in: 5...40, using: &schedule.random) {
      let place = schedule.place
      switch Int.random(in: 0..<6, using: &schedule.random) {
      case 0, 1: try schedule.copies[place].pull(from: schedule.copies[schedule.place])
      case 2: try schedule.copies[place].merge()
      default: try schedule.edit(place)
      }
    }
    try schedule.exchangeAll()
    let merged = Set(try expectAgreement(schedule).hotels)
    #expect(merged.isSuperset(of: schedule.added.subtracting(schedule.removed)))
    #expect(merged.isSubset(of: schedule.added))
  }

  /// One server that merges before it changes anything, and one phone: nothing comes back that was taken
  /// away. (With several phones and merges in between, the tree can't always tell; then ids are kept.)
  @Test(arguments: 0..<300 as Range<UInt64>)
  func phoneAndServerLoseNeitherAddsNorRemoves(seed: UInt64) throws {
    var schedule = try Schedule(seed: seed &+ 2_000)
    schedule.copies = Array(schedule.copies.prefix(2))
    for _ in 0..<Int.random(in: 5...40, using: &schedule.random) {
      let phone = schedule.place
      switch Int.random(in: 0..<6, using: &schedule.random) {
      case 0: if phone > 0 { try schedule.copies[0].pull(from: schedule.copies[phone]) }
      case 1: if phone > 0 { try schedule.copies[phone].pull(from: schedule.copies[0]) }
      case 2: try schedule.copies[0].merge()
      default:
        if phone == 0 { try schedule.copies[0].merge() }
        try schedule.edit(phone)
      }
    }
    try schedule.exchangeAll()
    let merged = try expectAgreement(schedule)
    #expect(Set(merged.hotels) == schedule.added.subtracting(schedule.removed))
  }
}
