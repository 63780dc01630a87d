import Catalogue
import Foundation
import Hotels
import Synchronization
import TestSupport
import Testing

@Suite struct ImportTests {
  private static let rows = Rows.some
  private static let pretty: [String] = rows.map { row in
    row.replacingOccurrences(of: ",\"", with: ",\n  \"")
      .replacingOccurrences(of: "{", with: "{\n  ")
      .replacingOccurrences(of: "}", with: "\n}")
  }
  private static let array: String = "[" + rows.joined(separator: ",") + "]"
  private static let spacedArray: String =
    "\r\n [\n  " + rows.joined(separator: "\n  ,\r\n") + "\n] \n"
  private static let lines: String = rows.joined(separator: "\n") + "\n"
  private static let shapes: [String] = [
    array, spacedArray, lines, rows.joined(separator: "\r\n"), rows.joined(),
    pretty.joined(separator: "\n"),
  ]

  @Test(arguments: shapes)
  func everyShapeGivesTheSameHotels(_ text: String) async throws {
    try await CatalogueFixture.run { fixture async throws in
      let summary = try await fixture.importing(text)
      #expect(summary.hotels == 6)
      #expect(summary.progress.bytes == text.utf8.count)
      #expect(summary.progress.rows == 6 && summary.progress.badRows == 0)
      #expect(try await fixture.ids(nil, in: nil, .phrase) == (1...6).map { "hotel_\($0)" })
      #expect(fixture.directory.names == ["catalogue.lock", "catalogue.sqlite"])
    }
  }

  @Test func aFileIsImportedAsItsBytesAre() async throws {
    try await CatalogueFixture.run { fixture async throws in
      try fixture.directory.write(Array(Self.array.utf8), to: "rows.json")
      let summary = try await fixture.importing(file: fixture.directory.path + "/rows.json")
      #expect(summary.hotels == 6)
      let error = await #expect(throws: CatalogueError.self) {
        try await fixture.importing(file: fixture.directory.path + "/absent.json")
      }
      #expect(error?.code == .unreadable)
    }
  }

  @Test func laterDuplicatesWinInTheEarlierPlace() async throws {
    let rows = [
      Rows.hotel(1, "Old Lion", #""city":"Paris""#), Rows.hotel(2, "Swan"),
      #"{"id":1,"name":"New Lion","city":"Lyon"}"#,
    ]
    try await CatalogueFixture.run { fixture async throws in
      let summary = try await fixture.importing(rows.joined(separator: "\n"))
      #expect(summary.hotels == 2 && summary.progress.replaced == 1 && summary.progress.rows == 3)
      #expect(try await fixture.ids(nil, in: nil, .phrase) == ["hotel_1", "hotel_2"])
      for matching in [HotelQuery.Matching.words, .phrase] {
        #expect(try await fixture.ids("old", in: nil, matching).isEmpty)
        #expect(try await fixture.ids("new lion", in: nil, matching) == ["hotel_1"])
        #expect(try await fixture.ids(in: "paris", matching).isEmpty)
        #expect(try await fixture.ids(in: "lyon", matching) == ["hotel_1"])
      }
    }
  }

  @Test func progressIsReportedInOrder() async throws {
    try await CatalogueFixture.run { fixture async throws in
      let box = EventBox()
      _ = try await fixture.importing(
        Self.lines + "nonsense\n", onBadRow: .skip, chunk: 100, report: { box.append($0) })
      let bytes = box.events.compactMap {
        if case .progress(let now) = $0 { now.bytes } else { nil }
      }
      #expect(bytes == bytes.sorted())
      #expect(bytes.last == Self.lines.utf8.count + 9)
      let bad = box.events.compactMap { if case .badRow(let row) = $0 { row.line } else { nil } }
      #expect(bad == [7])
    }
  }

  @Test(
    arguments: [
      ("", CatalogueError.Code.empty, nil), ("[]", .empty, nil), (" \n ", .empty, nil),
      ("[\(Rows.some[0])", .truncated, 1), ("\(Rows.some[0])\n{\"id\":", .truncated, 2),
      ("[\(Rows.some[0]),\n\n", .truncated, 3), ("hello", .malformed, 1), ("\n\n7", .malformed, 3),
      ("\u{FEFF}[]", .empty, nil), ("[{}]", .badRow, 1), ("[\(Rows.some[0])]x", .malformed, 1),
      ("[\(Rows.some[0])]\n{}", .malformed, 2), ("[{\"name\":\"x\"]", .malformed, 1),
      ("\(Rows.some[0])\n7\n", .badRow, 2), ("[\(Rows.some[0]),,{}]", .badRow, 1),
      ("[\n,\(Rows.some[0])]", .badRow, 2),
    ] as [(String, CatalogueError.Code, Int?)])
  func aFailedImportKeepsTheOldCatalogue(
    _ text: String, _ code: CatalogueError.Code, _ line: Int?
  ) async throws {
    try await CatalogueFixture.run(rows: [Rows.hotel(99, "Old")]) { fixture async throws in
      let old = try fixture.directory.read("catalogue.sqlite")
      for chunk in [1, 3, 1 << 16] {
        let error = await #expect(throws: CatalogueError.self) {
          try await fixture.importing(text, chunk: chunk)
        }
        #expect(error?.code == code)
        #expect(error?.line == line)
      }
      #expect(try fixture.directory.read("catalogue.sqlite") == old)
      #expect(fixture.directory.names == ["catalogue.lock", "catalogue.sqlite"])
      try await fixture.catalogue.reload()
      #expect(try await fixture.ids() == ["hotel_99"])
    }
  }

  @Test func aSourceThatFailsKeepsTheOldCatalogue() async throws {
    struct Lost: Error {}
    try await CatalogueFixture.run(rows: [Rows.hotel(99, "Old")]) { fixture async throws in
      let chunks = AsyncThrowingStream<[UInt8], any Error> { continuation in
        continuation.yield(Array(Rows.some[0].utf8))
        continuation.finish(throwing: Lost())
      }
      let error = await #expect(throws: CatalogueError.self) {
        try await fixture.importer().run(reading: chunks)
      }
      #expect(error?.code == .unreadable)
      #expect(try await fixture.ids() == ["hotel_99"])
      #expect(fixture.directory.names == ["catalogue.lock", "catalogue.sqlite"])
    }
  }

  @Test func aCancelledImportKeepsTheOldCatalogue() async throws {
    try await CatalogueFixture.run(rows: [Rows.hotel(99, "Old")]) { fixture async throws in
      let (chunks, continuation) = AsyncStream<[UInt8]>.makeStream()
      continuation.yield(Array(Rows.some[0].utf8))
      let importer = fixture.importer()
      let task = Task { await Self.code(of: importer, reading: chunks) }
      task.cancel()
      #expect(await task.value == .cancelled)
      #expect(try await fixture.ids() == ["hotel_99"])
      #expect(fixture.directory.names == ["catalogue.lock", "catalogue.sqlite"])
    }
  }

  private static func code(
    of importer: CatalogueImport, reading chunks: AsyncStream<[UInt8]>
  ) async -> CatalogueError.Code? {
    do {
      _ = try await importer.run(reading: chunks)
      return nil
    } catch {
      return error.code
    }
  }

  @Test func oneImportRunsAtATime() async throws {
    try await CatalogueFixture.run { fixture async throws in
      let (chunks, continuation) = AsyncStream<[UInt8]>.makeStream()
      let (started, start) = AsyncStream<Void>.makeStream()
      let first = fixture.importer(report: { _ in start.yield() })
      async let summary = first.run(reading: chunks)
      continuation.yield(Array(Rows.some[0].utf8))
      for await _ in started { break }
      let error = await #expect(throws: CatalogueError.self) {
        try await fixture.importing(Rows.some[1])
      }
      #expect(error?.code == .busy)
      continuation.finish()
      #expect(try await summary.hotels == 1)
    }
  }

  @Test func anImportIsFoundWithinASecondAndByReloadAtOnce() async throws {
    try await CatalogueFixture.run(rows: [Rows.hotel(1, "First")]) { fixture async throws in
      for _ in 0..<HotelCatalogue.readerCount {
        #expect(try await fixture.ids() == ["hotel_1"])
      }
      _ = try await fixture.importing(Rows.hotel(2, "Second"))
      #expect(try await fixture.ids() == ["hotel_1"])
      fixture.advance(by: .seconds(1))
      for _ in 0..<HotelCatalogue.readerCount {
        #expect(try await fixture.ids() == ["hotel_2"])
      }
      _ = try await fixture.importing(Rows.hotel(3, "Third"))
      #expect(try await fixture.catalogue.reload().rows == 1)
      for _ in 0..<HotelCatalogue.readerCount {
        #expect(try await fixture.ids() == ["hotel_3"])
      }
    }
  }
}

/// The reported events, in order.
final class EventBox: Sendable {
  private let box = Mutex<[ImportEvent]>([])

  var events: [ImportEvent] { box.withLock { $0 } }

  func append(_ event: ImportEvent) { box.withLock { $0.append(event) } }
}
