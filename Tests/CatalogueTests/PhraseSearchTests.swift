import Catalogue
import Hotels
import Testing

@Suite struct PhraseSearchTests {
  @Test(arguments: [
    ("pool", ["hotel_1", "hotel_2"]), ("Pool House", ["hotel_2"]), ("house pool", []),
    ("poo", []), ("youth hostel", ["hotel_3"]), ("hostel youth", ["hotel_3"]),
    ("Medway A", ["hotel_3"]), ("medway hostel", []), ("café", ["hotel_1"]), ("CAFÉ", ["hotel_1"]),
    ("cafe", []), ("hotel", ["hotel_1"]), ("étoile", []), ("L'ÉTOILE", ["hotel_5"]),
    ("wi-fi", ["hotel_3"]), ("wi fi", ["hotel_3"]), ("b b", ["hotel_6"]), ("the", []),
    ("The And", []),
    ("the pool", ["hotel_1", "hotel_2"]), ("bed and breakfast", ["hotel_4"]),
    ("bed or breakfast", ["hotel_4"]), ("bed breakfast", []), ("breakfast by", ["hotel_4"]),
    ("Rue d'Alger", []), ("Paris", []), ("spa", []), ("rochester", []), ("_", []),
    ("rooms near", ["hotel_5"]),
  ])
  func aDescriptionIsAPhraseInDescriptionOrName(_ text: String, _ ids: [String]) async throws {
    try await CatalogueFixture.run(rows: Rows.some) { fixture async throws in
      #expect(try await fixture.ids(text, in: nil, .phrase) == ids)
    }
  }

  @Test(arguments: [
    ("San Francisco", ["hotel_2"]), ("francisco san", ["hotel_5"]), ("Rue d'Alger", ["hotel_1"]),
    ("alger", []), ("UNITED KINGDOM", ["hotel_3", "hotel_4", "hotel_6"]),
    ("United", ["hotel_2", "hotel_3", "hotel_4", "hotel_6"]), ("Francisco California", []),
    ("Paris France", []), ("Pool", []),
  ])
  func aLocationIsAPhraseInOneFieldOfThePlace(_ text: String, _ ids: [String]) async throws {
    try await CatalogueFixture.run(rows: Rows.some) { fixture async throws in
      #expect(try await fixture.ids(in: text, .phrase) == ids)
    }
  }

  @Test func withoutTextAllHotelsComeInTheCataloguesOrder() async throws {
    try await CatalogueFixture.run(rows: Rows.some) { fixture async throws in
      #expect(try await fixture.ids(nil, in: nil, .phrase) == (1...6).map { "hotel_\($0)" })
      #expect(try await fixture.ids("rooms", in: "Brighton", .phrase) == ["hotel_4"])
    }
  }
}
