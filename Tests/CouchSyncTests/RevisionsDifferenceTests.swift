import CouchSync
import Testing

struct RevisionsDifferenceTests {
  private func difference(_ couch: Couch, _ body: String) async throws -> String {
    try await couch.database.revisionsDifference(RevisionsRequest(json(body))).text
  }

  @Test func missingRevisionsComeWithPossibleAncestors() async throws {
    let couch = try await Couch()
    try await couch.graft("a", "2-b", "1-a")
    try await couch.graft("a", "3-z", "2-z", "1-a", deleted: true)
    try await couch.graft("known", "1-a")
    #expect(
      try await difference(
        couch, #"{"a":["3-c","1-a","2-b","3-d"],"known":["1-a"],"new":["1-x"],"a2":[]}"#)
        == #"{"a":{"missing":["3-c","3-d"],"possible_ancestors":["2-b"]},"new":{"missing":["1-x"]}}"#
    )
  }

  @Test func leavesOfHigherGenerationsAreNoAncestors() async throws {
    let couch = try await Couch()
    try await couch.graft("a", "3-c", "2-b", "1-a")
    #expect(try await difference(couch, #"{"a":["2-x"]}"#) == #"{"a":{"missing":["2-x"]}}"#)
  }

  @Test func nothingMissingIsAnEmptyObject() async throws {
    let couch = try await Couch()
    #expect(try await difference(couch, "{}") == "{}")
  }

  @Test func idThatCannotBeStoredIsMissing() async throws {
    let couch = try await Couch()
    #expect(try await difference(couch, #"{"_x":["1-a"]}"#) == #"{"_x":{"missing":["1-a"]}}"#)
  }

  @Test(
    .bug(id: "J15"),
    arguments: [
      "1-a/b", "1-", "01-a", "0-a", "9007199254740993-a", "99999999999999999999-a", #"1-\"\\"#,
      "1-" + String(repeating: "a", count: 65), "1-" + String(repeating: "A", count: 32),
      "1-\u{E9}",
    ])
  func revisionThatCannotBeStoredIsMissingAndTheOthersAreAnswered(odd: String) async throws {
    let couch = try await Couch()
    try await couch.graft("a", "2-b", "1-a")
    let body = #"{"odd":["\#(odd)"],"a":["2-b","\#(odd)","3-c"],"b":["1-a"]}"#
    let answer = try await difference(couch, body)
    #expect(
      answer
        == #"{"odd":{"missing":["\#(odd)"]},"#
        + #""a":{"missing":["\#(odd)","3-c"],"possible_ancestors":["2-b"]},"#
        + #""b":{"missing":["1-a"]}}"#)
    let old = try await couch.database.missingRevisions(RevisionsRequest(json(body))).text
    #expect(
      old
        == #"{"missing_revs":{"odd":["\#(odd)"],"a":["\#(odd)","3-c"],"b":["1-a"]}}"#)
  }

  @Test func missingRevisionsHaveTheirOwnShape() async throws {
    let couch = try await Couch()
    try await couch.graft("a", "1-a")
    let request = try await RevisionsRequest(json(#"{"a":["1-a","2-b"],"b":["1-a"],"c":[]}"#))
    #expect(
      try await couch.database.missingRevisions(request).text
        == #"{"missing_revs":{"a":["2-b"],"b":["1-a"]}}"#)
  }

  @Test(arguments: [
    #"{"a":"1-a"}"#, #"{"a":[1]}"#, #"{"a":["x"]}"#, #"{"a":["-a"]}"#, #"{"a":["1"]}"#,
    #"{"a":{"1-a":1}}"#, #"{"a":null}"#,
  ])
  func malformedRequestIsRefused(body: String) async {
    #expect(await refusal { try await RevisionsRequest(json(body)) } == "400 bad_request")
  }

  @Test func tooManyRevisionsAreRefused() async {
    let revisions = (0...CouchLimits.askedRevisions).map { "\"1-\($0)\"" }.joined(separator: ",")
    let refused = await refusal {
      try await RevisionsRequest(json(#"{"a":[\#(revisions)]}"#))
    }
    #expect(refused == "413 too_large")
  }
}
