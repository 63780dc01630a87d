import Foundation
import Hotels
import SQLite
import SearchProxy
import Testing

/// The file of the cache.
@Suite struct SearchCacheTests {
  @Test func damagedFileIsBegunAnew() async throws {
    try await withCache { fixture in
      try Data(repeating: 7, count: 40_000).write(to: URL(fileURLWithPath: fixture.path))
      let first = try await fixture.search()
      #expect(first.hotels.count == 5)
      let second = try await fixture.search()
      #expect(second.hotels.count == 5)
      let third = try await fixture.search()
      #expect(third.source == .cache)
    }
  }

  @Test func answerThatWasReadAMomentAgoIsNotReadAgain() async throws {
    try await withCache { fixture in
      _ = try await fixture.search()
      let read = try await fixture.search()
      let other = try Connection(path: fixture.path, mode: .readWrite, busyTimeout: 1_000)
      try other.execute("DELETE FROM blocks")
      let again = try await fixture.search()
      #expect(again.source == .cache)
      #expect(again.hotels.map(\.body) == read.hotels.map(\.body))
      // Each use is recorded once a minute. That is when the entry is looked up in the file.
      fixture.pass(seconds: 61)
      #expect(try await fixture.search().source == .upstream)
      try other.close()
    }
  }

  @Test func answersBeyondTheMemorysBoundAreReadFromTheFile() async throws {
    // The memory has space for one of the two answers.
    try await withCache(recentBytes: 400) { fixture in
      for description in ["first", "second"] {
        _ = try await fixture.search(description: description)
        #expect(try await fixture.search(description: description).source == .cache)
      }
      let other = try Connection(path: fixture.path, mode: .readWrite, busyTimeout: 1_000)
      let sizes = try other.statement("SELECT length(body) FROM blocks").all { row in row.int64(0) }
      #expect(sizes.allSatisfy { $0 <= 400 } && sizes.reduce(0, +) > 400, "\(sizes)")
      try other.execute("DELETE FROM blocks")
      #expect(try await fixture.search(description: "second").source == .cache)
      #expect(try await fixture.search(description: "first").source == .upstream)
      try other.close()
    }
  }

  @Test func unwritableFileLeavesSearchesAsTheyAre() async throws {
    try await withCache(path: "/nowhere/at/all/cache.sqlite") { fixture in
      for _ in 0..<3 {
        let page = try await fixture.search()
        #expect(page.source == .upstream)
        #expect(page.cacheNote == "fwd=miss")
      }
    }
  }

  /// Regression: if the file could not be written for a moment, it was discarded with all its answers.
  @Test func answersStayWhileTheFileCannotBeWritten() async throws {
    try await withCache { fixture in
      _ = try await fixture.search()
      let other = try Connection(path: fixture.path, mode: .readWrite, busyTimeout: 1_000)
      try other.begin()
      fixture.pass(seconds: 3_600)
      #expect(try await fixture.search(description: "another").cacheNote == "fwd=miss")
      fixture.upstream.fail(.refused)
      let kept = try await fixture.search()
      #expect(kept.source == .stale && kept.age == 3_600 && kept.hotels.count == 5)
      try other.rollback()
      fixture.upstream.fail(nil)
      #expect(try await fixture.search(description: "another").cacheNote == "fwd=miss; stored")
    }
  }

  @Test func leastRecentlyUsedAnswersGoFirst() async throws {
    try await withCache(maximumBytes: 3_000) { fixture in
      for number in 0..<40 {
        fixture.pass(seconds: 1)
        _ = try await fixture.search(description: "d\(number)")
      }
      let calls = fixture.upstream.calls.count
      let last = try await fixture.search(description: "d39")
      #expect(last.source == .cache)
      #expect(fixture.upstream.calls.count == calls)
      fixture.upstream.fail(.refused)
      await #expect(throws: SearchError.self) { try await fixture.search(description: "d0") }
    }
  }

  /// Regression: only the number of hotels by id was bounded, not their size.
  @Test func hotelsByIDAreBoundedByTheirBytes() async throws {
    try await withCache(hotels: 0, maximumBytes: 200_000) { fixture in
      for number in 0..<30 {
        fixture.pass(seconds: 1)
        try fixture.upstream.change([
          #"{"id":"h\#(number)","name":"\#(String(repeating: "x", count: 20_000))"}"#
        ])
        _ = try await fixture.search(description: "d\(number)")
      }
      fixture.upstream.fail(.refused)
      let (first, last) = (try #require(HotelID("h0")), try #require(HotelID("h29")))
      #expect(try await fixture.hotel(last)?.id == last)
      await #expect(throws: SearchError.self) { try await fixture.hotel(first) }
      let file = try Connection(path: fixture.path, mode: .readOnly, busyTimeout: 1_000)
      let bytes = try file.statement("SELECT sum(length(body)) FROM hotels").first {
        row in row.int64(0)
      }
      #expect(try #require(bytes) <= 200_000)
    }
  }

  @Test func answersSurviveARestart() async throws {
    try await withCache { fixture in
      _ = try await fixture.search()
      let again = fixture.restarted()
      fixture.upstream.fail(.refused)
      let kept = try await again.search(HotelQuery(description: "inn"))
      #expect(kept.source == .cache)
      let id = try #require(HotelID("hotel_3"))
      #expect(try await again.hotel(id)?.id == id)
    }
  }

  /// Regression: hotels by id were returned even if they came from another upstream.
  @Test func anotherUpstreamsAnswersAreNotGiven() async throws {
    try await withCache { fixture in
      _ = try await fixture.search()
      let other = fixture.restarted(upstream: "other")
      let fresh = try await other.search(HotelQuery(description: "inn"))
      #expect(fresh.source == .upstream)
      fixture.upstream.fail(.refused)
      let third = fixture.restarted(upstream: "third")
      let id = try #require(HotelID("hotel_3"))
      #expect(try await other.hotel(id)?.id == id)
      await #expect(throws: SearchError.self) { try await third.hotel(id) }
    }
  }

  @Test func hotelThatWasLookedUpIsKept() async throws {
    try await withCache { fixture in
      let (known, unknown) = (try #require(HotelID("hotel_3")), try #require(HotelID("none")))
      #expect(try await fixture.hotel(known)?.id == known)
      #expect(try await fixture.hotel(unknown) == nil)
      fixture.upstream.fail(.refused)
      #expect(try await fixture.hotel(known)?.id == known)
      #expect(fixture.upstream.lookUps == [known, unknown])
    }
  }

  /// Regression: the most deeply nested hotel that an answer can contain was stored but could not be read.
  @Test func deepestHotelIsKept() async throws {
    try await withCache(hotels: 0) { fixture in
      let deep = String(repeating: "[", count: 63) + String(repeating: "]", count: 63)
      try fixture.upstream.change([#"{"id":"deep","x":\#(deep)}"#])
      _ = try await fixture.search()
      #expect(try await fixture.search().source == .cache)
    }
  }

  /// Regression: after a clock was set back, stored answers counted as fresh until it reached their time again.
  @Test func answerFromTheFutureIsGivenOnlyForWantOfAnother() async throws {
    try await withCache { fixture in
      _ = try await fixture.search()
      fixture.pass(seconds: -30)
      let near = try await fixture.search()
      #expect(near.source == .cache && near.age == 0 && near.cacheNote == "hit; ttl=60")
      fixture.pass(seconds: -3_600)
      fixture.upstream.fail(.refused)
      let old = try await fixture.search()
      #expect(old.source == .stale && old.age == 0)
      fixture.upstream.fail(nil)
      #expect(try await fixture.search().source == .upstream)
      #expect(try await fixture.search().source == .cache)
    }
  }
}
