import Documents
import Hotels
import Testing

@testable import SearchProxy

/// The exact requests to search engines, and the meaning of their answers.
@Suite struct QueryDialectTests {
  private static let fields = """
    ["name","title","address","city","state","country","description","directions","phone","tollfree",\
    "email","fax","url","checkin","checkout","price","vacancy","alias","free_breakfast","free_internet",\
    "free_parking","pets_ok","geo.lat","geo.lon","geo.accuracy"]
    """

  private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

  @Test func couchbaseIsAskedForPhrasesInAnyOfTheirFields() {
    let query = HotelQuery(description: #"sea "view""#, location: "Oslo", limit: 30, offset: 60)
    #expect(
      text(CouchbaseDialect().body(for: query)) == """
        {"query":{"conjuncts":[{"disjuncts":[{"match_phrase":"Oslo","field":"country"},\
        {"match_phrase":"Oslo","field":"city"},{"match_phrase":"Oslo","field":"state"},\
        {"match_phrase":"Oslo","field":"address"}]},{"disjuncts":[\
        {"match_phrase":"sea \\"view\\"","field":"description"},\
        {"match_phrase":"sea \\"view\\"","field":"name"}]}]},"fields":\(Self.fields),"size":30,"from":60,\
        "sort":["-_score","_id"],"ctl":{"timeout":1500}}
        """)
    #expect(CouchbaseDialect().path(index: "a.b.c") == "/api/index/a.b.c/query")
  }

  @Test func couchbaseIsAskedForAllWithoutTexts() {
    let body = text(CouchbaseDialect().body(for: HotelQuery()))
    #expect(body.hasPrefix(#"{"query":{"match_all":{}},"#))
  }

  @Test func openSearchIsAskedForPhrasesOverSeveralFields() {
    let query = HotelQuery(description: "pool", location: "São Paulo", limit: 100, offset: 100)
    #expect(
      text(OpenSearchDialect().body(for: query)) == """
        {"query":{"bool":{"must":[{"multi_match":{"query":"São Paulo","type":"phrase",\
        "fields":["country","city","state","address"]}},{"multi_match":{"query":"pool","type":"phrase",\
        "fields":["description","name"]}}]}},"_source":\(Self.fields),"size":100,"from":100,\
        "timeout":"1500ms","track_total_hits":10000}
        """)
    #expect(
      OpenSearchDialect().path(index: "hotels") == "/hotels/_search?preference=hotel-bookmarks")
  }

  @Test func openSearchIsNotAskedBeyondItsWindow() {
    let body = text(OpenSearchDialect().body(for: HotelQuery(limit: 100, offset: 10_000)))
    #expect(body.contains(#""size":0,"from":10000"#))
  }

  @Test func lookUpsAreByID() throws {
    let id = try #require(HotelID("hotel_7"))
    #expect(text(CouchbaseDialect().body(for: id)).hasPrefix(#"{"query":{"ids":["hotel_7"]},"#))
    #expect(
      text(OpenSearchDialect().body(for: id)).hasPrefix(
        #"{"query":{"ids":{"values":["hotel_7"]}},"#))
  }

  @Test func couchbasesHitsBecomeHotels() throws {
    let page = try couchbase(
      """
      {"status":{"total":6,"failed":0,"successful":6},"request":{},"hits":[
        {"index":"i","id":"hotel_10025","score":1.5,"fields":{"name":"Inn","price":1.0,"vacancy":true,
          "geo.lat":51.5,"geo.lon":-0.1,"secret":"x","city":"None","state":null}},
        {"index":"i","id":"hotel_10025","score":1,"fields":{"name":"Twice"}},
        {"index":"i","id":"12","fields":{"name":"Numbered"}},
        {"index":"i","fields":{"name":"Without an id"}},{"index":"i","id":"empty","fields":{}}],
       "total_hits":900,"max_score":1.5,"took":1200,"facets":null}
      """, HotelQuery(limit: 5))
    #expect(
      page.bodies == [
        #"{"id":"hotel_10025","name":"Inn","price":1.0,"vacancy":true,"geo":{"lat":51.5,"lon":-0.1}}"#,
        #"{"id":"hotel_12","name":"Numbered"}"#,
      ])
    #expect(page.next == 5)
  }

  @Test func openSearchsHitsBecomeHotels() throws {
    let page = try openSearch(
      """
      {"took":3,"timed_out":false,"_shards":{"total":1,"successful":1,"skipped":0,"failed":0},
       "hits":{"total":{"value":2,"relation":"eq"},"max_score":1.2,"hits":[
        {"_index":"hotels","_id":"10025","_score":1.2,
         "_source":{"name":"Inn","geo":{"lat":1,"lon":2,"x":3}}},
        {"_index":"hotels","_id":"b","_score":1,"_source":{"name":"Other"}}]}}
      """, HotelQuery(limit: 2))
    #expect(
      page.bodies == [
        #"{"id":"hotel_10025","name":"Inn","geo":{"lat":1,"lon":2}}"#,
        #"{"id":"b","name":"Other"}"#,
      ])
    #expect(page.next == nil)
  }

  @Test func nothingFoundIsAnEmptyPage() throws {
    let none = #"{"status":{"total":1,"failed":0,"successful":1},"hits":null,"total_hits":0}"#
    #expect(try couchbase(none).hotels.isEmpty)
    #expect(
      try openSearch(
        #"{"timed_out":false,"_shards":{"failed":0},"hits":{"total":{"value":0},"hits":[]}}"#
      ).hotels.isEmpty)
  }

  @Test(arguments: [
    "{}", "[]", #"{"hits":[]}"#, #"{"error":"rest_auth: preparePerms, err: index not found"}"#,
    #"{"status":{"failed":0},"hits":{}}"#, #"{"status":{"failed":0},"hits":[{"id":"x"}]}"#,
    #"{"status":"fail"}"#,
  ])
  func whatIsNoAnswerOfCouchbasesIsNone(answer: String) {
    #expect(code { try couchbase(answer) } == .badAnswer)
  }

  @Test(arguments: [
    "{}", #"{"error":{"type":"index_not_found_exception"},"status":404}"#, #"{"timed_out":false}"#,
    #"{"timed_out":false,"_shards":{"failed":0},"hits":{"hits":{}}}"#,
    #"{"timed_out":false,"_shards":{"failed":0},"hits":{"hits":[1,2]}}"#,
  ])
  func whatIsNoAnswerOfOpenSearchsIsNone(answer: String) {
    #expect(code { try openSearch(answer) } == .badAnswer)
  }

  @Test func answerOfAPartIsNone() {
    #expect(
      code { try couchbase(#"{"status":{"total":6,"failed":1},"hits":[],"total_hits":0}"#) }
        == .unavailable)
    #expect(
      code {
        try openSearch(#"{"timed_out":true,"_shards":{"failed":0},"hits":{"hits":[]}}"#)
      } == .unavailable)
    #expect(
      code {
        try openSearch(#"{"timed_out":false,"_shards":{"failed":2},"hits":{"hits":[]}}"#)
      } == .unavailable)
  }

  private func couchbase(_ text: String, _ query: HotelQuery = HotelQuery()) throws -> HotelPage {
    try CouchbaseDialect().page(
      ParsedJSON(Array(text.utf8), limits: .request).root, for: query)
  }

  private func openSearch(_ text: String, _ query: HotelQuery = HotelQuery()) throws -> HotelPage {
    try OpenSearchDialect().page(
      ParsedJSON(Array(text.utf8), limits: .request).root, for: query)
  }

  private func code(_ work: () throws -> HotelPage) -> SearchError.Code? {
    do {
      _ = try work()
      return nil
    } catch { return (error as? SearchError)?.code }
  }
}
