import CouchSync
import Documents
import Scheduling
import StoreTesting
import Stores
import Synchronization
import Testing

@testable import HTTPAPI

/// The lengths of an answer while it grew.
private final class Lengths: Sendable {
  private let counts = Mutex<[Int]>([])

  var all: [Int] { counts.withLock { $0 } }

  func append(_ count: Int) { counts.withLock { $0.append(count) } }
}

struct BulkGetTests {
  @Test func eachElementHasOneEntryInOrder() async throws {
    let couch = try await Couch()
    try await couch.graft("a", "2-b", "1-a", body: #","x":1"#)
    try await couch.graft("b", "2-d", "1-c", deleted: true)
    let answer = try await couch.bulkGet(
      #"{"docs":[{"id":"b","rev":"2-d"},{"id":"a","rev":"9-x"},{"id":"a","rev":"2-b","atts_since":["1-a"]},{"id":"z","rev":"1-a"}]}"#,
      ("revs", "true"), ("latest", "true"))
    #expect(
      answer.text
        == #"{"results":["#
        + #"{"id":"b","docs":[{"ok":{"_id":"b","_rev":"2-d","_deleted":true,"#
        + #""_revisions":{"start":2,"ids":["d","c"]}}}]},"#
        + #"{"id":"a","docs":[{"error":{"id":"a","rev":"9-x","error":"not_found","reason":"missing"}}]},"#
        + #"{"id":"a","docs":[{"ok":{"_id":"a","_rev":"2-b","_revisions":{"start":2,"ids":["b","a"]},"x":1}}]},"#
        + #"{"id":"z","docs":[{"error":{"id":"z","rev":"1-a","error":"not_found","reason":"missing"}}]}"#
        + "]}")
  }

  @Test func latestGivesTheLeafOfARevision() async throws {
    let couch = try await Couch()
    try await couch.graft("a", "1-a", body: #","x":1"#)
    try await couch.graft("a", "2-b", "1-a", body: #","x":2"#)
    let docs = #"{"docs":[{"id":"a","rev":"1-a"}]"#
    let old = try await couch.bulkGet(docs + "}")
    #expect(old.text.contains(#""_rev":"1-a","x":1"#))
    let latest = try await couch.bulkGet(docs + "}", ("latest", "true"))
    #expect(latest.text.contains(#""_rev":"2-b","x":2"#))
    let inBody = try await couch.bulkGet(docs + #","latest":true,"revs":true}"#)
    #expect(inBody.text.contains(#""_revisions":{"start":2,"ids":["b","a"]}"#))
  }

  @Test func withoutRevisionEveryLeafComes() async throws {
    let couch = try await Couch()
    try await couch.graft("a", "1-a")
    try await couch.graft("a", "1-b")
    let answer = try await couch.bulkGet(#"{"docs":[{"id":"a"},{"id":"z"}]}"#)
    let results = try #require(answer.json["results"]?.array)
    #expect(results[0]["docs"]?.array?.map { $0["ok"]?["_rev"] } == ["1-a", "1-b"])
    #expect(results[1]["docs"]?.array?.first?["error"]?["rev"] == "undefined")
  }

  /// The error's object is that of CouchDB 3.5, to the values that it repeats.
  @Test(arguments: [
    ("{}", "null", "null", "bad_request", "document must be a JSON object"),
    (#""a""#, "null", "null", "bad_request", "document must be a JSON object"),
    (#"{"rev":"1-a"}"#, "null", "null", "bad_request", "document id missed"),
    (#"{"id":7,"rev":"1-a"}"#, "7", "null", "illegal_docid", "Document id must be a string"),
    (#"{"id":""}"#, #""""#, "null", "illegal_docid", "Document id must not be empty"),
    (
      #"{"id":"_x","rev":"1-a"}"#, #""_x""#, "null", "illegal_docid",
      "Only reserved document ids may start with underscore."
    ),
    (#"{"id":"a","rev":"x"}"#, #""a""#, #""x""#, "bad_request", "Invalid rev format"),
    (#"{"id":"a","rev":[5]}"#, #""a""#, "[5]", "bad_request", "Invalid rev format"),
    (
      #"{"id":"a","atts_since":"1-a"}"#, #""a""#, #""1-a""#, "bad_request",
      "att_since value must be array of revs."
    ),
    (#"{"id":"a","atts_since":["1-a",1]}"#, #""a""#, "1", "bad_request", "Invalid rev format"),
    (#"{"id":"a"}"#, #""a""#, #""undefined""#, "not_found", "missing"),
    (#"{"id":"a","rev":"9-x"}"#, #""a""#, #""9-x""#, "not_found", "missing"),
  ])
  func wrongElementIsAnsweredInItsPlace(
    element: String, id: String, revision: String, error: String, reason: String
  ) async throws {
    let couch = try await Couch()
    try await couch.graft("b", "1-a")
    let answer = try await couch.bulkGet(#"{"docs":[\#(element),{"id":"b"}]}"#)
    #expect(
      answer.text == #"{"results":[{"id":\#(id),"docs":[{"error":{"id":\#(id),"rev":\#(revision),"#
        + #""error":"\#(error)","reason":"\#(reason)"}}]},"#
        + #"{"id":"b","docs":[{"ok":{"_id":"b","_rev":"1-a"}}]}]}"#)
  }

  @Test func revisionThatOnlyCouchDBHoldsIsNoneThatTheClientHas() async throws {
    let couch = try await Couch()
    try await couch.graft("a", "1-a")
    let answer = try await couch.bulkGet(#"{"docs":[{"id":"a","atts_since":["1-a/b"]}]}"#)
    #expect(answer.text.contains(#"{"ok":{"_id":"a""#))
  }

  @Test func noMoreRevisionsAreTakenThanABranchHas() async throws {
    let couch = try await Couch()
    try await couch.graft("a", "1-a")
    for (count, isTaken) in [(1_000, true), (1_001, false)] {
      let since = Array(repeating: #""1-a""#, count: count).joined(separator: ",")
      let answer = try await couch.bulkGet(#"{"docs":[{"id":"a","atts_since":[\#(since)]}]}"#)
      let found = answer.json["results"]?.array?.first?["docs"]?.array?.first
      #expect((found?["ok"] != nil) == isTaken)
      #expect((found?["error"]?["error"] == "bad_request") == !isTaken)
    }
  }

  @Test func longAnswerComesInPiecesThatAreCountedAsTheyCome() async throws {
    let engine = MemoryEngine()
    let couch = try await Couch(in: engine)
    for id in ["a", "b"] {
      try await couch.put(id, #"{"x":"\#(String(repeating: id, count: 100_000))"}"#)
    }
    let lengths = Lengths()
    let database = CouchDatabase(
      name: "db", store: couch.store, as: .server, saying: ErrorTable.couchWord,
      reserveAnswer: { count in
        lengths.append(count)
        return count < 1_000_000
      })
    let names = ["a", "b", "a", "b", "z", "a"].map { #"{"id":"\#($0)"}"# }
    let asked = #"{"docs":[\#(names.joined(separator: ","))]}"#
    let answer = try await engine.inShortestSlices {
      try await database.bulkGet(BulkGetRequest(json(asked), query([])))
    }
    #expect(answer.text == (try await couch.bulkGet(asked).text))
    #expect(
      answer.json["results"]?.array?.map { $0["id"]?.string } == ["a", "b", "a", "b", "z", "a"])
    #expect(answer.pieces.count > 5 && answer.pieces.allSatisfy { $0.count < 200_000 })
    #expect(lengths.all == lengths.all.sorted())
    #expect(lengths.all.last == answer.body.count)
    let more = Array(repeating: #"{"id":"a"}"#, count: 11).joined(separator: ",")
    let refused = await refusal {
      try await database.bulkGet(BulkGetRequest(json(#"{"docs":[\#(more)]}"#), query([])))
    }
    #expect(refused == "503 unavailable")
  }

  @Test func revisionsOfSeveralDocumentsDoNotMix() async throws {
    let couch = try await Couch()
    try await couch.graft("a", "1-a", body: #","x":1"#)
    try await couch.graft("b", "1-a", body: #","x":2"#)
    try await couch.graft("a", "1-b", body: #","x":3"#)
    let answer = try await couch.bulkGet(
      #"{"docs":[{"id":"a","rev":"1-a"},{"id":"a","rev":"1-b"},{"id":"b","rev":"1-a"},{"id":"b","rev":"1-b"}]}"#
    )
    let results = try #require(answer.json["results"]?.array)
    #expect(results.map { $0["docs"]?.array?.first?["ok"]?["x"] } == [1, 3, 2, nil])
  }

  @Test(arguments: ["{}", #"{"docs":{}}"#, "[]"])
  func requestWithoutDocumentsIsRefused(body: String) async {
    #expect(await refusal { try await BulkGetRequest(json(body), query([])) } == "400 bad_request")
  }

  /// Regression: the elements of a request were read in one piece, 10,000 of them in 25 ms.
  @Test func elementsOfARequestAreReadInSlices() async throws {
    let work = Work(ProcessorAccount(), in: Seats(stores: .forStores()))
    work.end(.gone)
    await Work.$current.withValue(work) {
      await #expect(throws: WorkEnded.self) {
        try await BulkGetRequest(json(#"{"docs":[{"id":"a"}]}"#), query([]))
      }
      await #expect(throws: WorkEnded.self) { try await RevisionsRequest(json(#"{"a":["1-a"]}"#)) }
    }
  }
}
