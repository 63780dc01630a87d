import Catalogue
import Foundation
import Hotels
import Testing

@Suite struct BadRowTests {
  private static let good = (1...3).map { Rows.hotel($0, "Hotel \($0)") }
  private static let long = String(repeating: "x", count: 256 * 1024)

  private static let tooLong: String = #"{"id":"hotel_9","name":"\#(long)"}"#
  private static let tooDeep: String =
    #"{"id":"hotel_9","name":"x","deep":"# + String(repeating: "[", count: 90)
    + String(repeating: "]", count: 90) + "}"

  /// Invalid rows, as lines. The test puts them between valid ones.
  private static let bad: [String] = [
    #"{"id":"hotel_9","name":"x","name":"y"}"#,
    #"{"id":"hotel_9","name":"x",,"city":"y"}"#,
    #"{"id":"hotel_9","name":"x""#,
    #"{"id":"hotel_9","name":"x"#,
    #"{"id":"hotel_9","name":"x"]}"#,
    #"{"id":"hotel_9","name":"\ud800"}"#,
    #"{"id":"hotel_9","name":7}"#,
    #"{"id":"hotel_9","name":" "}"#,
    #"{"id":"hotel_9"}"#,
    #"{"id":{},"name":"x"}"#,
    #"{"id":"_x","name":"x"}"#,
    "{\"id\":\"hotel_9\",\"name\":\"x\"\u{1}}",
    "7", "true", "[1]", "{}", "}", "garbage", "\"text\"", tooLong, tooDeep,
  ]

  @Test(arguments: bad)
  func aBadLineCostsOneRowAndItsLineIsTold(_ row: String) async throws {
    try await CatalogueFixture.run { fixture async throws in
      let text = [Self.good[0], Self.good[1], row, Self.good[2]].joined(separator: "\n")
      let summary = try await fixture.importing(text, onBadRow: .skip)
      #expect(try await fixture.ids(nil, in: nil, .phrase) == ["hotel_1", "hotel_2", "hotel_3"])
      #expect(summary.hotels == 3)
      #expect(summary.badRows.first?.line == 3)
      #expect(summary.badRows.first?.ordinal == 3)
      #expect(summary.badRows.first?.reason.isEmpty == false)
      let error = await #expect(throws: CatalogueError.self) { try await fixture.importing(text) }
      #expect(error?.code == .badRow)
      #expect(error?.line == 3)
    }
  }

  @Test func badElementsOfAnArrayArePassedOver() async throws {
    let elements = [
      Self.good[0], "true", "7", "\"a,]b\"", "[1,[2]]", #"{"id":1,"id":2,"name":"x"}"#,
      Self.good[1],
      "{}", " ", #"{"id":"hotel_9","name":"\#(Self.long)"}"#, "tru", Self.good[2],
    ]
    try await CatalogueFixture.run { fixture async throws in
      let summary = try await fixture.importing(
        "[" + elements.joined(separator: "\n,") + "]", onBadRow: .skip)
      #expect(try await fixture.ids(nil, in: nil, .phrase) == ["hotel_1", "hotel_2", "hotel_3"])
      #expect(summary.badRows.map(\.ordinal) == [2, 3, 4, 5, 6, 8, 9, 10, 11])
      #expect(
        summary.badRows.map(\.line) == [2, 3, 4, 5, 6, 8, 9, 10, 11].map { $0 == 9 ? 10 : $0 })
    }
  }

  @Test func whereTheChunksAreCutChangesNothing() async throws {
    let texts = [
      "[" + (Self.good + ["7", "{}"]).joined(separator: ",\n") + "]",
      [Self.good[0], #"{"name":"x"#, Self.good[1], "}", #"{"a":"\"}{","name":"é"}"#, Self.good[2]]
        .joined(separator: "\n"),
    ]
    try await CatalogueFixture.run(rows: Self.good) { fixture async throws in
      for text in texts {
        let whole = try await fixture.importing(text, onBadRow: .skip)
        for chunk in 1...text.utf8.count {
          let cut = try await fixture.importing(text, onBadRow: .skip, chunk: chunk)
          #expect(cut == whole)
        }
      }
    }
  }

  @Test func aSummaryNamesTheFirstBadRowsOnly() async throws {
    try await CatalogueFixture.run { fixture async throws in
      let text = Self.good[0] + "\n" + String(repeating: "{}\n", count: 300)
      let summary = try await fixture.importing(text, onBadRow: .skip)
      #expect(summary.progress.badRows == 300)
      #expect(summary.badRows.count == ImportSummary.maximumBadRows)
    }
  }
}
