import Documents
import Hotels
import Testing

@Suite struct HotelTests {
  private func id(_ text: String, from origin: Hotel.Origin = .client) throws -> String {
    try Hotel(ParsedJSON(Array(text.utf8), limits: .document).root, from: origin).id.text
  }

  @Test(arguments: [
    (#"{"_id":"a","id":"b","docid":"c"}"#, "a"), (#"{"id":"b","docid":"c"}"#, "b"),
    (#"{"docid":"c"}"#, "c"), (#"{"id":10025}"#, "hotel_10025"), (#"{"id":null,"docid":"c"}"#, "c"),
    (#"{"id":"","docid":"c"}"#, "c"), (#"{"id":"None","docid":"c"}"#, "c"),
    (#"{"id":"10025"}"#, "10025"), (#"{"id":"hotelhotel_1"}"#, "hotelhotel_1"),
  ])
  func idIsFound(text: String, wanted: String) throws {
    #expect(try id(text) == wanted)
  }

  @Test(arguments: [
    ("10025", "hotel_10025"), ("hotelhotel_1", "hotel_1"), ("hotel_1", "hotel_1"), ("x1", "x1"),
    ("1234567890123456789", "1234567890123456789"), ("", ""),
  ])
  func upstreamsSpellingsAreBroughtTogether(text: String, wanted: String) {
    #expect(Hotel.canonical(text) == wanted)
  }

  @Test func sameFactsWithoutAnIDMakeTheSameID() throws {
    let first = try id(#"{"name":"Medway","city":"Rochester"}"#)
    #expect(first.hasPrefix("hotel_"))
    #expect(first.utf8.count == 22)
    #expect(try id(#"{ "city":"Rochester", "name":"\u004dedway" }"#, from: .upstream) == first)
    #expect(try id(#"{"name":"Medway","city":"Chatham"}"#) != first)
  }

  @Test(arguments: [
    "[]", "1", #"{"id":-1}"#, #"{"id":1.5}"#, #"{"id":true}"#, #"{"id":["a"]}"#, #"{"id":"_a"}"#,
    #"{"id":"_design/a"}"#, #"{"id":"bookmarkedhotels"}"#, #"{"id":"a\u0000b"}"#,
  ])
  func whatCanNotBeAHotelIsRefused(text: String) {
    #expect(throws: DocumentError.self) { try id(text) }
  }
}
