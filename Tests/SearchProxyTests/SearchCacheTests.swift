import Documents
import Foundation
import Hotels
import SQLite
import SearchProxy
import Testing

/// The file behind the cache.
@Suite struct SearchCacheTests {
  @Test func damagedFileIsBegunAnew() async throws {
    try await withCache { rig in
      try Data(repeating: 7, count: 40_000).write(to: URL(fileURLWithPath: rig.path))
      let first = try await rig.search()
      #expect(first.hotels.count == 5)
      let second = try await rig.search()
      #expect(second.hotels.count == 5)
      let third = try await rig.search()
      #expect(third.source == .cache)
    }
  }

  @Test func unwritableFileLeavesSearchesAsTheyAre() async throws {
    try await withCache(path: "/nowhere/at/all/cache.sqlite") { rig in
      for _ in 0..<3 {
        let page = try await rig.search()
        #expect(page.source == .upstream)
        #expect(page.cacheNote == "fwd=miss")
      }
    }
  }

  /// A file that could not be written for a moment had been thrown away with all that it knew.
  @Test func answersStayWhileTheFileCannotBeWritten() async throws {
    try await withCache { rig in
      _ = try await rig.search()
      let other = try Connection(path: rig.path, mode: .readWrite, busyTimeout: 1_000)
      try other.begin()
      rig.pass(seconds: 3_600)
      #expect(try await rig.search(description: "another").cacheNote == "fwd=miss")
      rig.upstream.fail(.refused)
      let kept = try await rig.search()
      #expect(kept.source == .stale && kept.age == 3_600 && kept.hotels.count == 5)
      try other.rollback()
      rig.upstream.fail(nil)
      #expect(try await rig.search(description: "another").cacheNote == "fwd=miss; stored")
    }
  }

  @Test func leastRecentlyUsedAnswersGoFirst() async throws {
    try await withCache(maximumBytes: 3_000) { rig in
      for number in 0..<40 {
        rig.pass(seconds: 1)
        _ = try await rig.search(description: "d\(number)")
      }
      let calls = rig.upstream.calls.count
      let last = try await rig.search(description: "d39")
      #expect(last.source == .cache)
      #expect(rig.upstream.calls.count == calls)
      rig.upstream.fail(.refused)
      await #expect(throws: SearchError.self) { try await rig.search(description: "d0") }
    }
  }

  /// Hotels by id had been bounded by their number alone, whatever their size.
  @Test func hotelsByIDAreBoundedByTheirBytes() async throws {
    try await withCache(hotels: 0, maximumBytes: 200_000) { rig in
      for number in 0..<30 {
        rig.pass(seconds: 1)
        try rig.upstream.change([
          #"{"id":"h\#(number)","name":"\#(String(repeating: "x", count: 20_000))"}"#
        ])
        _ = try await rig.search(description: "d\(number)")
      }
      rig.upstream.fail(.refused)
      let (first, last) = (try #require(HotelID("h0")), try #require(HotelID("h29")))
      #expect(try await rig.hotel(last)?.id == last)
      await #expect(throws: SearchError.self) { try await rig.hotel(first) }
      let file = try Connection(path: rig.path, mode: .readOnly, busyTimeout: 1_000)
      let bytes = try file.statement("SELECT sum(length(body)) FROM hotels").first {
        row throws(SQLiteError) in row.int64(0)
      }
      #expect(try #require(bytes) <= 200_000)
    }
  }

  @Test func answersSurviveARestart() async throws {
    try await withCache { rig in
      _ = try await rig.search()
      let again = rig.restarted()
      rig.upstream.fail(.refused)
      let kept = try await again.search(HotelQuery(description: "inn"))
      #expect(kept.source == .cache)
      let id = try #require(HotelID("hotel_3"))
      #expect(try await again.hotel(id)?.id == id)
    }
  }

  /// Hotels by id had been given whichever upstream they were from.
  @Test func anotherUpstreamsAnswersAreNotGiven() async throws {
    try await withCache { rig in
      _ = try await rig.search()
      let other = rig.restarted(upstream: "other")
      let fresh = try await other.search(HotelQuery(description: "inn"))
      #expect(fresh.source == .upstream)
      rig.upstream.fail(.refused)
      let third = rig.restarted(upstream: "third")
      let id = try #require(HotelID("hotel_3"))
      #expect(try await other.hotel(id)?.id == id)
      await #expect(throws: SearchError.self) { try await third.hotel(id) }
    }
  }

  @Test func hotelThatWasLookedUpIsKept() async throws {
    try await withCache { rig in
      let (known, unknown) = (try #require(HotelID("hotel_3")), try #require(HotelID("none")))
      #expect(try await rig.hotel(known)?.id == known)
      #expect(try await rig.hotel(unknown) == nil)
      rig.upstream.fail(.refused)
      #expect(try await rig.hotel(known)?.id == known)
      #expect(rig.upstream.lookUps == [known, unknown])
    }
  }

  /// The deepest hotel that an answer can hold could be kept but not read again.
  @Test func deepestHotelIsKept() async throws {
    try await withCache(hotels: 0) { rig in
      let deep = String(repeating: "[", count: 63) + String(repeating: "]", count: 63)
      try rig.upstream.change([#"{"id":"deep","x":\#(deep)}"#])
      _ = try await rig.search()
      #expect(try await rig.search().source == .cache)
    }
  }

  /// A clock that was set back had made kept answers fresh until it had caught up.
  @Test func answerFromTheFutureIsGivenOnlyForWantOfAnother() async throws {
    try await withCache { rig in
      _ = try await rig.search()
      rig.pass(seconds: -30)
      let near = try await rig.search()
      #expect(near.source == .cache && near.age == 0 && near.cacheNote == "hit; ttl=60")
      rig.pass(seconds: -3_600)
      rig.upstream.fail(.refused)
      let old = try await rig.search()
      #expect(old.source == .stale && old.age == 0)
      rig.upstream.fail(nil)
      #expect(try await rig.search().source == .upstream)
      #expect(try await rig.search().source == .cache)
    }
  }
}
