import Documents
import Hotels
import Stores
import Testing

/// Updates of a bookmark by an upstream's newer facts.
@Suite struct HotelFactsTests {
  private func merged(
    _ stored: String, _ former: String, _ facts: String
  ) -> String? {
    HotelFacts.merged(
      into: Array(stored.utf8), former: Array(former.utf8), facts: Array(facts.utf8)
    ).map { String(decoding: $0.bytes, as: UTF8.self) }
  }

  @Test func factTakesItsNewerValueInItsPlace() {
    #expect(
      merged(
        #"{"name":"Old","note":"mine","price":1.0,"type":"hotel"}"#,
        #"{"name":"Old","price":1.0}"#, #"{"name":"New","price":1.0,"phone":"+47"}"#)
        == #"{"name":"New","note":"mine","price":1.0,"type":"hotel","phone":"+47"}"#)
  }

  @Test func whatThePersonChangedAddedOrRemovedStaysSo() {
    #expect(
      merged(
        #"{"name":"My name","note":"mine"}"#, #"{"name":"Old","city":"Oslo"}"#,
        #"{"name":"New","city":"Bergen"}"#) == nil)
  }

  @Test func factThatIsGoneUpstreamGoes() {
    #expect(
      merged(#"{"name":"A","fax":"1"}"#, #"{"name":"A","fax":"1"}"#, #"{"name":"A"}"#)
        == #"{"name":"A"}"#)
  }

  @Test func sameFactsInAnotherSpellingChangeNothing() {
    #expect(
      merged(
        #"{"a":1.0,"b":"x"}"#, #"{"b":"x","a":1.0}"#, #"{ "b" : "\u0078", "a" : 1.0 }"#)
        == nil)
  }

  @Test func numberInAnotherSpellingIsNoChangeOfThePersons() {
    #expect(
      merged(#"{"price":1e2,"note":"mine"}"#, #"{"price":100}"#, #"{"price":120}"#)
        == #"{"price":120,"note":"mine"}"#)
    #expect(merged(#"{"price":1e2}"#, #"{"price":100}"#, #"{"price":100.0}"#) == nil)
  }

  @Test func idTypeAndReservedMembersAreNoFacts() {
    #expect(
      merged(
        #"{"id":"7","type":"hotel","name":"A"}"#,
        #"{"id":"7","type":"hotel","name":"A"}"#,
        #"{"id":"8","type":"inn","_x":1,"name":"A"}"#) == nil)
  }

  @Test func refreshWritesOneRevisionAndThenNone() async throws {
    let fixture = try HotelFixture()
    let node = { (text: String) in
      try Hotel(ParsedJSON(Array(text.utf8), limits: .document).root, from: .upstream)
    }
    let old = try node(#"{"id":"h","name":"Old"}"#)
    _ = try await fixture.service.bookmark(
      HotelAddition(known: old.id, shown: old), in: fixture.user, as: .server)
    let newer = try node(#"{"id":"h","name":"New"}"#)
    #expect(try await fixture.service.refresh([newer], in: fixture.user) == 1)
    #expect(try await fixture.service.refresh([newer], in: fixture.user) == 0)
    let bookmark = try #require(try await fixture.service.bookmark(newer.id, in: fixture.user))
    #expect(bookmark.revision.generation == 2)
    let other = try node(#"{"id":"not bookmarked","name":"x"}"#)
    #expect(try await fixture.service.refresh([other], in: fixture.user) == 0)
  }

  /// Regression: a member of the bookmark's first revision was treated as the upstream's and overwritten.
  @Test func memberThatThePersonAddedFromTheBeginningIsNeverTouched() async throws {
    let fixture = try HotelFixture()
    let node = { (text: String) in
      try Hotel(ParsedJSON(Array(text.utf8), limits: .document).root, from: .upstream)
    }
    let own = try node(#"{"id":"h","name":"Mine","phone":"room 7","city":"Oslo"}"#)
    _ = try await fixture.service.bookmark(HotelAddition(facts: own), in: fixture.user, as: .server)
    for facts in [
      #"{"id":"h","name":"Inn","phone":"+47","city":"Oslo"}"#,
      #"{"id":"h","name":"New Inn","phone":"+48","city":"Bergen"}"#,
      #"{"id":"h","name":"Newer Inn","city":"Bergen"}"#,
    ] {
      _ = try await fixture.service.refresh([try node(facts)], in: fixture.user)
    }
    let bookmark = try #require(try await fixture.service.bookmark(own.id, in: fixture.user))
    let hotel = try ParsedJSON(bookmark.hotel, limits: .document).root
    #expect(hotel["name"]?.string == "Mine" && hotel["phone"]?.string == "room 7")
    // A member that equals the upstream's value follows the upstream.
    #expect(hotel["city"]?.string == "Bergen")
  }
}
