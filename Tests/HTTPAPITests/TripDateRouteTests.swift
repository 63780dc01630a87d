import Documents
import HTTPTypes
import Testing

@testable import HTTPAPI

/// The first and the last day of a list's trip.
@Suite(.timeLimit(.minutes(60))) struct TripDateRouteTests {
  @Test func membersSetReadAndRemoveTheDays() async throws {
    try await ListFixture.open { list in
      let none = try await list.call(.reader, .get)
      #expect(none.json["from"] == nil && none.json["to"] == nil)
      let set = try await list.call(
        .editor, .patch, body: #"{"from":"2026-05-01","to":"2026-05-08"}"#)
      #expect(set.status == 200 && set["from"] == "2026-05-01" && set["to"] == "2026-05-08")
      #expect(set["title"] == "Rome" && set["markdown"] == "In *May*")
      let read = try await list.call(.reader, .get)
      #expect(read["from"] == "2026-05-01" && read["to"] == "2026-05-08")
      #expect(read.headers[.eTag] != none.headers[.eTag])
      let mine = try await list.api.call(.get, "/v1/lists", token: list.token(.reader))
      #expect(mine.json["lists"]?.array?.first?["to"] == "2026-05-08")
      let wiki = try await list.couch(.owner, .get, "/" + list.id)
      #expect(wiki["from"] == "2026-05-01" && wiki["to"] == "2026-05-08")
      let open = try await list.call(.owner, .patch, body: #"{"from":null}"#)
      #expect(open.status == 200 && open.json["from"] == nil && open["to"] == "2026-05-08")
      #expect(try await list.couch(.owner, .get, "/" + list.id).json["from"] == nil)
      #expect(try await list.call(.reader, .patch, body: #"{"from":null}"#).status == 403)
    }
  }

  @Test func aListBeginsWithItsDays() async throws {
    try await ListFixture.open { list in
      let made = try await list.api.call(
        .post, "/v1/lists", token: list.token(.owner),
        body: #"{"title":"Oslo","from":"2028-02-29","to":"2028-02-29"}"#)
      #expect(made.status == 201 && made["from"] == "2028-02-29" && made["to"] == "2028-02-29")
      let refused = try await list.api.call(
        .post, "/v1/lists", token: list.token(.owner),
        body: #"{"title":"Bern","from":"2026-05-02","to":"2026-05-01"}"#)
      #expect(refused.status == 400 && refused.error == "doc_validation")
      let mine = try await list.api.call(.get, "/v1/lists", token: list.token(.owner))
      #expect(mine.json["lists"]?.array?.count == 2)
    }
  }

  @Test(arguments: [
    #""2026-02-29""#, #""2026-13-01""#, #""2026-5-1""#, #""2026-05-01T00:00:00Z""#, #""""#,
    #""１999-01-01""#, "20260501", "{}", "true",
  ])
  func whatIsNoDayIsRefusedHereAndBySync(day: String) async throws {
    try await ListFixture.open { list in
      for name in ["from", "to"] {
        let refused = try await list.call(.owner, .patch, body: "{\"\(name)\":\(day)}")
        #expect(refused.status == 400 && refused.error == "doc_validation", "\(day)")
        #expect(refused["reason"]?.contains(name) == true)
        let pushed = try await Self.push(#""\#(name)":\#(day)"#, in: list)
        #expect(pushed.status == 403 && pushed.error == "forbidden", "\(day)")
        #expect(pushed["reason"] == refused["reason"])
      }
      let wiki = try await list.couch(.owner, .get, "/" + list.id)
      #expect(wiki.json["from"] == nil && wiki.json["to"] == nil)
    }
  }

  @Test func aTripDoesNotEndBeforeItBeginsWhicheverDayIsChanged() async throws {
    try await ListFixture.open { list in
      let days = #""from":"2026-05-01","to":"2026-05-08""#
      #expect(try await Self.push(days, in: list).status == 201)
      for body in [
        #"{"from":"2026-05-09"}"#, #"{"to":"2026-04-30"}"#,
        #"{"from":"2027-01-01","to":"2026-12-31","title":"Late"}"#,
      ] {
        #expect(try await list.call(.editor, .patch, body: body).status == 400)
      }
      let wrong = #""from":"2026-05-09","to":"2026-05-08""#
      #expect(try await Self.push(wrong, in: list).status == 403)
      let kept = try await list.call(.reader, .get)
      #expect(kept["from"] == "2026-05-01" && kept["to"] == "2026-05-08" && kept["title"] == "Rome")
      #expect(try await list.call(.editor, .patch, body: #"{"from":"2026-05-08"}"#).status == 200)
    }
  }

  @Test func aLinkShowsTheDays() async throws {
    try await ListFixture.open { list in
      try await list.call(.owner, .patch, body: #"{"to":"2026-05-08"}"#)
      let secret = try #require(try await list.call(.owner, .post, "/links")["secret"])
      let shown = try await list.api.call(.get, "/v1/links/" + secret)
      #expect(shown.json["from"] == nil && shown["to"] == "2026-05-08")
    }
  }

  /// Writes the list's own document by sync, with these members besides.
  private static func push(_ members: String, in list: ListFixture) async throws -> Reply {
    let known = try await list.couch(.editor, .get, "/" + list.id)
    var body = try #require(known.json.object)
    let more = try JSONValue(parsing: Array("{\(members)}".utf8), limits: .request)
    for (name, value) in try #require(more.object).members { body[name] = value }
    return try await list.couch(
      .editor, .put, "/" + list.id,
      body: String(decoding: JSONValue.object(body).bytes, as: UTF8.self))
  }
}
