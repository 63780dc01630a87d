import Catalogue
import Documents
import Foundation
import Hotels
import Testing

/// Files as known programs, sites and offices write them: `Tests/Fixtures/imports.json`. Most have two hotels.
@Suite struct KnownFileTests {
  struct File: CustomTestStringConvertible, Sendable {
    let name: String
    let bytes: [UInt8]
    let hotels: Int
    /// How many rows are left out that are neither hotels nor faults.
    let others: Int
    /// Members of the hotel with this name, or else of the first one.
    let first: JSONValue
    /// A word of the reason for which the file is refused; nil for a file that is not.
    let refusal: String?

    init(_ node: JSONNode) throws {
      name = try #require(node["name"]?.string)
      bytes = Array(try #require(node["text"]?.string).utf8)
      hotels = node["hotels"]?.int ?? 0
      others = node["others"]?.int ?? 0
      first = node["first"]?.value ?? [:]
      refusal = node["refusal"]?.string
    }

    var testDescription: String { name }

    static func all() throws -> [File] {
      let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../Fixtures/imports.json")
      let root = try ParsedJSON([UInt8](Data(contentsOf: file)), limits: .request).root
      return try root.elements.map(File.init)
    }
  }

  @Test(arguments: try File.all())
  func aKnownFileGivesItsHotels(_ file: File) async throws {
    try await CatalogueFixture.run { fixture async throws in
      for chunk in [7, 1 << 16] {
        let summary: ImportSummary
        do {
          summary = try await fixture.importing(
            file.bytes, onBadRow: .skip, isForced: false, chunk: chunk)
        } catch let error as CatalogueError {
          let word = try #require(file.refusal, "\(error.reason)")
          #expect(error.reason.contains(word))
          continue
        }
        #expect(file.refusal == nil)
        #expect(summary.hotels == file.hotels && summary.progress.badRows == 0)
        #expect(summary.progress.otherRows == file.others)
      }
      guard file.refusal == nil else { return }
      let page = try await fixture.catalogue.search(HotelQuery(matching: .phrase))
      let hotels = try page.hotels.map {
        try ParsedJSON($0.body.bytes, limits: .document).root
      }
      let name = file.first.object?["name"]
      let hotel = try #require(hotels.first { $0["name"]?.value == name } ?? hotels.first)
      for (name, value) in file.first.object?.members ?? [] {
        #expect((hotel[name]?.value ?? .null).bytes == value.bytes, "\(name): \(hotel.value)")
      }
    }
  }
}
