import Catalogue
import Foundation
import Hotels
import TestSupport
import Testing

/// Imports that look like a mistake, and their undo.
@Suite struct DoubtfulImportTests {
  /// Good rows and bad ones, a row a line.
  private func text(_ good: Int, bad: Int = 0) -> String {
    ((0..<good).map { Rows.hotel($0 + 1, "Hotel \($0)") } + Array(repeating: "{}", count: bad))
      .joined(separator: "\n")
  }

  private func code(_ work: () async throws -> Void) async -> CatalogueError.Code? {
    do { try await work() } catch { return (error as? CatalogueError)?.code }
    return nil
  }

  @Test(arguments: [(18, 2, true), (17, 2, false), (9, 1, true), (8, 1, false), (1, 999, false)])
  func moreThanATenthOfBadRowsIsRefused(good: Int, bad: Int, isTaken: Bool) async throws {
    try await CatalogueFixture.run(rows: [Rows.hotel(99, "Old")]) { fixture async throws in
      let rows = text(good, bad: bad)
      let refusal = await code {
        _ = try await fixture.importing(rows, onBadRow: .skip, isForced: false)
      }
      #expect(refusal == (isTaken ? nil : .doubtful))
      try await fixture.catalogue.reload()
      #expect(try await fixture.ids().count == (isTaken ? good : 1))
      guard !isTaken else { return }
      #expect(fixture.directory.names == ["catalogue.lock", "catalogue.sqlite"])
      let summary = try await fixture.importing(rows, onBadRow: .skip, isForced: true)
      #expect(summary.hotels == good)
    }
  }

  @Test(arguments: [(10, 5, true), (10, 4, false), (9, 5, true), (9, 4, false), (1, 1, true)])
  func fewerThanHalfOfTheHotelsOfAFormerImportIsRefused(
    former: Int, hotels: Int, isTaken: Bool
  ) async throws {
    try await CatalogueFixture.run { fixture async throws in
      _ = try await fixture.importing(text(former), isForced: false)
      let refusal = await code { _ = try await fixture.importing(text(hotels), isForced: false) }
      #expect(refusal == (isTaken ? nil : .doubtful))
      try await fixture.catalogue.reload()
      #expect(try await fixture.ids().count == (isTaken ? hotels : former))
    }
  }

  @Test func theProgramsOwnHotelsAreNoFormerImport() async throws {
    try await CatalogueFixture.run { fixture async throws in
      let embedded = try await fixture.catalogue.prepare(at: CatalogueFixture.date)
      _ = try await fixture.importing(text(1), isForced: false)
      try await fixture.catalogue.reload()
      #expect(try await fixture.ids() == ["hotel_1"])
      let back = try await fixture.undo()
      #expect(back.kind == .embedded && back.rows == embedded.rows)
      #expect(try await fixture.ids().count == 100)
    }
  }

  @Test func undoBringsTheFormerCatalogueBackOnce() async throws {
    try await CatalogueFixture.run { fixture async throws in
      #expect(await code { try await fixture.undo() } == .noFormer)
      for count in [3, 2, 4] { _ = try await fixture.importing(text(count)) }
      // A failed import keeps what the last one has replaced.
      #expect(await code { _ = try await fixture.importing("[" + text(1)) } == .truncated)
      #expect(try await fixture.undo().rows == 2)
      #expect(try await fixture.ids().count == 2)
      #expect(await code { try await fixture.undo() } == .noFormer)
      #expect(try await fixture.ids().count == 2)
      #expect(fixture.directory.names == ["catalogue.lock", "catalogue.sqlite"])
      _ = try await fixture.importing(text(5))
      #expect(try await fixture.undo().rows == 2)
    }
  }

  /// An import that was cut off between two renames leaves the present catalogue under both names.
  @Test func presentCatalogueIsNoFormerOne() async throws {
    try await CatalogueFixture.run(rows: [Rows.hotel(1, "One")]) { fixture async throws in
      let (present, former) = ("catalogue.sqlite", "catalogue.sqlite.former")
      try FileManager.default.linkItem(
        atPath: fixture.directory.file(present), toPath: fixture.directory.file(former))
      #expect(await code { try await fixture.undo() } == .noFormer)
      _ = try await fixture.importing(text(2))
      #expect(try await fixture.undo().rows == 1)
    }
  }

  @Test func damagedFormerCatalogueIsNotBroughtBack() async throws {
    try await CatalogueFixture.run(rows: [Rows.hotel(1, "One")]) { fixture async throws in
      _ = try await fixture.importing(text(2))
      try fixture.directory.write(Array("nonsense".utf8), to: "catalogue.sqlite.former")
      #expect(await code { try await fixture.undo() } == .damaged)
      try await fixture.catalogue.reload()
      #expect(try await fixture.ids().count == 2)
    }
  }
}
