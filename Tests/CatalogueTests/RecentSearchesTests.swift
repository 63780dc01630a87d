import Documents
import Hotels
import TestSupport
import Testing

@testable import Catalogue

/// Pages that are kept in memory.
@Suite struct RecentSearchesTests {
  private func page(_ bytes: Int = 2, total: Int? = 1) throws -> HotelPage {
    let id = try #require(HotelID("a"))
    let body = DocumentBody(readingBack: [UInt8](repeating: 0x20, count: bytes))
    return HotelPage(hotels: [Hotel(id: id, body: body)], next: nil, total: total)
  }

  private func identity(_ directory: TemporaryDirectory, _ name: String) throws -> FileIdentity {
    try #require(FileIdentity(path: try directory.write(Array(name.utf8), to: name)))
  }

  @Test func equalSearchOfTheSameFileHasTheSamePage() throws {
    let directory = try TemporaryDirectory()
    let (file, other) = (try identity(directory, "a"), try identity(directory, "other"))
    let recent = RecentSearches()
    let query = HotelQuery(description: "caf\u{e9}")
    recent.keep(try page(total: 7), for: query, in: file)
    #expect(recent.page(for: query, in: file)?.total == 7)
    #expect(recent.page(for: query, in: other) == nil)
    #expect(recent.page(for: HotelQuery(description: "caf\u{e9}", limit: 3), in: file) == nil)
    let decomposed = HotelQuery(description: "cafe\u{301}")
    #expect(decomposed == query)
    #expect(recent.page(for: decomposed, in: file) == nil, "it is spelt with other code points")
    recent.keep(try page(total: 8), for: query, in: other)
    #expect(recent.page(for: query, in: file) == nil)
    #expect(recent.page(for: query, in: other)?.total == 8)
  }

  @Test func largePagesAndUnknownTotalsAreNotKept() throws {
    let directory = try TemporaryDirectory()
    let file = try identity(directory, "a")
    let recent = RecentSearches()
    let query = HotelQuery(description: "a")
    recent.keep(try page(RecentSearches.maximumPageBytes), for: query, in: file)
    #expect(recent.page(for: query, in: file) == nil)
    recent.keep(try page(total: nil), for: query, in: file)
    #expect(recent.page(for: query, in: file) == nil)
  }

  @Test func pagesStayWithinTheLimit() throws {
    let directory = try TemporaryDirectory()
    let file = try identity(directory, "a")
    let recent = RecentSearches()
    let bytes = RecentSearches.maximumPageBytes - 4_096
    let count = RecentSearches.maximumBytes / bytes * 3
    for offset in 0..<count {
      recent.keep(try page(bytes), for: HotelQuery(offset: offset), in: file)
      #expect(recent.page(for: HotelQuery(offset: offset), in: file) != nil)
    }
    let kept = (0..<count).filter { offset in
      recent.page(for: HotelQuery(offset: offset), in: file) != nil
    }
    #expect(kept.count * bytes <= RecentSearches.maximumBytes)
  }
}
