import Documents
import Hotels
import SearchProxy
import Testing

/// The hotels that search has shown, and the bounds on them.
@Suite struct RecentHotelsTests {
  @Test func hotelIsFoundUntilTooManyCameAfterIt() throws {
    var recent = RecentHotels(maximumCount: 2)
    for number in 1...3 { recent.remember(try hotel(number)) }
    #expect(recent.count == 2)
    #expect(recent.hotel(try id(1)) == nil)
    #expect(recent.hotel(try id(2))?.id == (try id(2)))
    #expect(recent.hotel(try id(3))?.id == (try id(3)))
  }

  @Test func useKeepsAHotel() throws {
    var recent = RecentHotels(maximumCount: 2)
    recent.remember(try hotel(1))
    recent.remember(try hotel(2))
    _ = recent.hotel(try id(1))
    recent.remember(try hotel(3))
    #expect(recent.hotel(try id(1)) != nil)
    #expect(recent.hotel(try id(2)) == nil)
  }

  @Test func newerDescriptionReplacesTheOlder() throws {
    var recent = RecentHotels(maximumCount: 2)
    recent.remember(try hotel(1, name: "old"))
    recent.remember(try hotel(1, name: "new"))
    #expect(recent.count == 1)
    #expect(recent.bytes == RecentHotels.cost(of: try hotel(1, name: "new")))
    #expect(recent.hotel(try id(1))?.body == (try hotel(1, name: "new").body))
  }

  @Test func bytesAreBounded() throws {
    let cost = RecentHotels.cost(of: try hotel(1))
    var recent = RecentHotels(maximumBytes: 3 * cost)
    for number in 1...9 { recent.remember(try hotel(number)) }
    #expect(recent.count == 3)
    #expect(recent.bytes == 3 * cost)
    recent.remember(try hotel(5, name: String(repeating: "x", count: 3 * cost)))
    #expect(recent.count == 3)
    recent.remember(try hotel(9, name: String(repeating: "x", count: 3 * cost)))
    #expect(recent.count == 2)
    #expect(recent.hotel(try id(9)) == nil)
  }

  @Test func manyUsesOfOneHotelKeepTheOrder() throws {
    var recent = RecentHotels(maximumCount: 3)
    for number in 1...3 { recent.remember(try hotel(number)) }
    for _ in 0..<1_000 { _ = recent.hotel(try id(2)) }
    _ = recent.hotel(try id(1))
    recent.remember(try hotel(4))
    #expect(recent.hotel(try id(3)) == nil)
    recent.remember(try hotel(5))
    #expect(recent.hotel(try id(2)) == nil)
    #expect(recent.hotel(try id(1)) != nil)
  }

  @Test func randomUseAgreesWithASimpleModel() throws {
    var generator = SplitMix(state: 7)
    var recent = RecentHotels(maximumCount: 8)
    var model: [Int] = []
    for _ in 0..<5_000 {
      let number = Int(generator.next() % 20)
      if generator.next() % 2 == 0 {
        recent.remember(try hotel(number))
        model.removeAll { $0 == number }
        model.append(number)
        if model.count > 8 { model.removeFirst() }
      } else {
        #expect((recent.hotel(try id(number)) != nil) == model.contains(number))
        if model.contains(number) {
          model.removeAll { $0 == number }
          model.append(number)
        }
      }
      #expect(recent.count == model.count)
    }
  }

  @Test func hotelThatSearchHasShownIsKnownById() async throws {
    try await withUpstream(script: { _ in .json(Golden.v1) }) { upstream, _ in
      let search = RememberingSearch(upstream)
      let wanted = try #require(HotelID("hotel_7002"))
      #expect(try await search.hotel(wanted) == nil)
      let page = try await search.search(HotelQuery(description: "inn"))
      #expect(try await search.hotel(wanted)?.body == page.hotels.last?.body)
      #expect(try await upstream.hotel(wanted) == nil)
      try await search.checkReady()
    }
  }

  private func id(_ number: Int) throws -> HotelID {
    try #require(HotelID("hotel_\(number)"))
  }

  private func hotel(_ number: Int, name: String = "Inn") throws -> Hotel {
    Hotel(
      id: try id(number),
      body: try DocumentBody(parsing: Array(#"{"name":"\#(name)"}"#.utf8)))
  }

  /// A seeded generator (SplitMix64), so that a failure repeats.
  private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var mixed = state
      mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
      mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
      return mixed ^ (mixed >> 31)
    }
  }
}
