import Documents
import Hotels
import Testing

@Suite struct HotelTests {
  private func id(_ text: String, from origin: Hotel.Origin = .client) throws -> String {
    try Hotel(ParsedJSON(Array(text.utf8), limits: .document).root, from: origin).id.text
  }

  @Test(arguments: [
    (#"{"_id":"a","id":"b","docid":"c"}"#, "a"), (#"{"id":"b","docid":"c"}"#, "b"),
    (#"{"docid":"c"}"#, "c"), (#"{"id":10025}"#, "hotel_10025"),
    (#"{"id":"10025"}"#, "10025"), (#"{"id":"hotelhotel_1"}"#, "hotelhotel_1"),
  ])
  func idIsFound(text: String, wanted: String) throws {
    #expect(try id(text) == wanted)
  }

  @Test(arguments: [
    #"{"id":null,"docid":"c"}"#, #"{"id":"","docid":"c"}"#, #"{"id":"None","docid":"c"}"#,
  ])
  func upstreamsIDThatSaysNothingIsPassedOver(text: String) throws {
    #expect(try id(text, from: .upstream) == "c")
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
    #"{"id":"_design/a"}"#, #"{"id":"bookmarkedhotels"}"#, #"{"id":"a\u0000b"}"#, #"{"id":null}"#,
    #"{"id":""}"#,
    #"{"_id":"a","id":null}"#, #"{"id":"a","docid":""}"#, #"{"id":"None"}"#, #"{"name":{"a":1}}"#,
    #"{"id":"a","city":7}"#, #"{"id":"a","amenities":"pool"}"#,
    #"{"id":"a","amenities":["pool",1]}"#,
    #"{"id":"a","geo":[1,2]}"#, #"{"id":"a","geo":{"lat":"1"}}"#, #"{"id":"a","bookmarked":"yes"}"#,
  ])
  func whatCanNotBeAHotelIsRefused(text: String) {
    #expect(throws: DocumentError.self) { try id(text) }
  }

  @Test func reasonSaysWhatToChange() {
    let reason = { (text: String) in
      do {
        _ = try id(text)
        return ""
      } catch { return (error as? DocumentError)?.reason ?? "" }
    }
    #expect(reason(#"{"name":{"a":1}}"#) == "A hotel's name must be a string or null")
    #expect(reason(#"{"id":""}"#).contains("leave it out or say the id"))
  }

  @Test func documentedMembersMayBeNullAndOthersAnything() throws {
    let text =
      #"{"id":"a","name":null,"amenities":null,"geo":null,"price":{"a":1},"geo2":[1]}"#
    #expect(try id(text) == "a")
    #expect(
      try id(#"{"id":"a","geo":{"lat":1.5,"lon":-2,"accuracy":"ROOFTOP"},"amenities":["pool"]}"#)
        == "a")
  }

  /// Regression: an app generated from the contract could not read the whole page because of one such member.
  @Test func upstreamsMemberOfAnotherKindIsLeftOut() throws {
    let text = #"{"id":"a","name":{"en":"A"},"city":"Oslo","geo":"59,10","x":1.0}"#
    let hotel = try Hotel(ParsedJSON(Array(text.utf8), limits: .document).root, from: .upstream)
    #expect(hotel.body.bytes.text == #"{"id":"a","city":"Oslo","x":1.0}"#)
  }
}
