import Documents
import Glibc
import Hotels
import SQLite
import TestSupport
import Testing

@testable import Catalogue

@Suite struct EmbeddedCatalogueTests {
  @Test func anAbsentCatalogueIsMadeOfTheEmbeddedHotels() async throws {
    try await CatalogueFixture.run { fixture async throws in
      let origin = try await fixture.catalogue.prepare(at: CatalogueFixture.date)
      #expect(origin.kind == .embedded)
      #expect(origin.rows >= 300)
      #expect(origin.date == CatalogueFixture.date)
      #expect(fixture.directory.names == ["catalogue.lock", "catalogue.sqlite"])
      for country in ["France", "United Kingdom", "United States"] {
        for matching in [HotelQuery.Matching.words, .phrase] {
          #expect(try await fixture.ids(in: country, matching).count >= 90)
        }
      }
    }
  }

  @Test(arguments: [HotelQuery.Matching.words, .phrase])
  func theRitzCarltonIsFoundByPoolAndSanFrancisco(_ matching: HotelQuery.Matching) async throws {
    try await CatalogueFixture.run { fixture async throws in
      try await fixture.catalogue.prepare(at: CatalogueFixture.date)
      let page = try await fixture.catalogue.search(
        HotelQuery(description: "pool", location: "San Francisco", matching: matching))
      let names = try page.hotels.map { hotel in
        try ParsedJSON(hotel.body.bytes, limits: .document).root["name"]?.string ?? ""
      }
      #expect(names.contains { $0.contains("Ritz-Carlton") })
    }
  }

  @Test func aCatalogueIsMadeOnceAndKept() async throws {
    try await CatalogueFixture.run { fixture async throws in
      try await fixture.catalogue.prepare(at: CatalogueFixture.date)
      let later = CatalogueFixture.date.adding(seconds: 60)
      #expect(try await fixture.catalogue.prepare(at: later).date == CatalogueFixture.date)
    }
  }

  @Test func aDamagedEmbeddedCatalogueIsMadeAnew() async throws {
    try await CatalogueFixture.run { fixture async throws in
      try await fixture.catalogue.prepare(at: CatalogueFixture.date)
      var bytes = try fixture.directory.read("catalogue.sqlite")
      for position in stride(from: 4096, to: bytes.count, by: 512) { bytes[position] ^= 0xFF }
      try fixture.directory.write(bytes, to: "catalogue.sqlite")
      let later = CatalogueFixture.date.adding(seconds: 60)
      let origin = try await fixture.catalogue.prepare(at: later)
      #expect(origin.date == later)
      #expect(try await fixture.ids(in: "San Francisco").isEmpty == false)
    }
  }

  @Test func aTruncatedEmbeddedCatalogueIsMadeAnew() async throws {
    try await CatalogueFixture.run { fixture async throws in
      try await fixture.catalogue.prepare(at: CatalogueFixture.date)
      let bytes = try fixture.directory.read("catalogue.sqlite")
      try fixture.directory.write(Array(bytes.prefix(6000)), to: "catalogue.sqlite")
      let later = CatalogueFixture.date.adding(seconds: 60)
      #expect(try await fixture.catalogue.prepare(at: later).date == later)
    }
  }

  @Test func anEmbeddedCatalogueOfAnotherEditionIsMadeAnew() async throws {
    try await CatalogueFixture.run { fixture async throws in
      try await fixture.catalogue.prepare(at: CatalogueFixture.date)
      try fixture.directory.replaceEdition()
      let later = CatalogueFixture.date.adding(seconds: 60)
      #expect(try await fixture.catalogue.prepare(at: later).date == later)
    }
  }

  @Test func anImportedCatalogueIsKept() async throws {
    try await CatalogueFixture.run(rows: Rows.some) { fixture async throws in
      let origin = try await fixture.catalogue.prepare(at: CatalogueFixture.date)
      #expect(origin.kind == .imported)
      #expect(origin.rows == 6)
      #expect(origin.name == "hotels.json")
    }
  }

  @Test func anImportedCatalogueWithFewerNamesIsMadeAgainOfItsHotels() async throws {
    try await CatalogueFixture.run(rows: Rows.some) { fixture async throws in
      try fixture.directory.removeTexts()
      let later = CatalogueFixture.date.adding(seconds: 60)
      let origin = try await fixture.catalogue.prepare(at: later)
      #expect(origin.kind == .imported && origin.rows == 6 && origin.name == "hotels.json")
      #expect(origin.date == CatalogueFixture.date)
      #expect(try await fixture.ids("pool").sorted() == ["hotel_1", "hotel_2", "hotel_4"])
      #expect(try await fixture.ids().count == 6)
      // It has all names now, and is kept.
      let bytes = try fixture.directory.read("catalogue.sqlite")
      try await fixture.catalogue.prepare(at: later)
      #expect(try fixture.directory.read("catalogue.sqlite") == bytes)
    }
  }

  @Test func anImportWhileAFormerCatalogueIsOpenIsNotReplacedByItsHotels() async throws {
    try await CatalogueFixture.run(rows: Rows.some) { fixture async throws in
      let files = CatalogueFiles(directory: fixture.directory.path)
      let opened = try OpenCatalogue(files)
      _ = try await fixture.importing(Rows.hotel(9, "Later"))
      let error = #expect(throws: CatalogueError.self) {
        try CatalogueRebuild.run(opened, in: files)
      }
      #expect(error?.code == .busy)
      #expect(try await fixture.ids() == ["hotel_9"])
    }
  }

  @Test(arguments: [3, 5])
  func anImportedCatalogueOfAnotherEditionIsAnErrorAndStays(_ version: Int32) async throws {
    try await CatalogueFixture.run(rows: Rows.some) { fixture async throws in
      try fixture.directory.setEdition(version)
      let bytes = try fixture.directory.read("catalogue.sqlite")
      let error = await #expect(throws: CatalogueError.self) {
        try await fixture.catalogue.prepare(at: CatalogueFixture.date)
      }
      #expect(error?.code == .unavailable)
      #expect(error?.reason == "The hotel catalogue is of another version; import it again.")
      #expect(error?.detail == "version \(version), this version knows 4")
      #expect(try fixture.directory.read("catalogue.sqlite") == bytes)
    }
  }

  @Test func aDamagedImportedCatalogueIsAnErrorAndStays() async throws {
    try await CatalogueFixture.run(rows: Rows.some) { fixture async throws in
      let bytes = Array(try fixture.directory.read("catalogue.sqlite").prefix(5000))
      try fixture.directory.write(bytes, to: "catalogue.sqlite")
      let error = await #expect(throws: CatalogueError.self) {
        try await fixture.catalogue.prepare(at: CatalogueFixture.date)
      }
      #expect(error?.code == .damaged)
      #expect(try fixture.directory.read("catalogue.sqlite") == bytes)
    }
  }

  @Test(arguments: [
    [], Array("not a database, but as long as a header of one is, and then some more.".utf8),
  ])
  func aFileOfSomethingElseIsAnErrorAndStays(_ bytes: [UInt8]) async throws {
    try await CatalogueFixture.run { fixture async throws in
      try fixture.directory.write(bytes, to: "catalogue.sqlite")
      let error = await #expect(throws: CatalogueError.self) {
        try await fixture.catalogue.prepare(at: CatalogueFixture.date)
      }
      #expect(error?.code == .damaged)
      #expect(try fixture.directory.read("catalogue.sqlite") == bytes)
    }
  }

  @Test func withoutACatalogueSearchesFailAndAreNotEmpty() async throws {
    try await CatalogueFixture.run { fixture async throws in
      let error = await #expect(throws: SearchError.self) { try await fixture.ids("pool") }
      #expect(error?.code == .unavailable)
      await #expect(throws: SearchError.self) { try await fixture.catalogue.checkReady() }
      _ = try await fixture.importing(Rows.some.joined(separator: "\n"))
      #expect(try await fixture.ids("medway") == ["hotel_3"])
      try await fixture.catalogue.checkReady()
    }
  }
}

extension TemporaryDirectory {
  /// Gives the catalogue the number of another edition.
  fileprivate func setEdition(_ version: Int32) throws {
    let connection = try Connection(path: path + "/catalogue.sqlite", mode: .readWrite)
    try connection.setUserVersion(version)
    try connection.close()
  }

  /// Makes the catalogue one of an earlier version: nothing is found in it.
  fileprivate func removeTexts() throws {
    let connection = try Connection(path: path + "/catalogue.sqlite", mode: .readWrite)
    try connection.execute(
      "DROP TABLE texts; INSERT INTO words (words) VALUES ('delete-all'); DROP INDEX hotel_price")
    try connection.close()
  }

  /// Replaces the catalogue by one with the digest of another edition of the embedded hotels.
  fileprivate func replaceEdition() throws {
    try write(try read("catalogue.sqlite"), to: "other.sqlite")
    let connection = try Connection(path: path + "/other.sqlite", mode: .readWrite)
    try connection.execute("UPDATE origin SET name = '0000000000000000'")
    try connection.close()
    #expect(rename(path + "/other.sqlite", path + "/catalogue.sqlite") == 0)
  }
}
