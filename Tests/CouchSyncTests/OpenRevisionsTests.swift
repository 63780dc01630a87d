import CouchSync
import Documents
import Stores
import Testing

struct OpenRevisionsTests {
  /// `1-a(2-b 2-c 2-d(3-d†))`: two live leaves and a tombstone.
  private func branched() async throws -> Couch {
    let couch = try await Couch()
    try await couch.graft("a", "2-b", "1-a", body: #","x":1"#)
    try await couch.graft("a", "2-c", "1-a", body: #","x":2"#)
    try await couch.graft("a", "3-d", "2-d", "1-a", deleted: true)
    return couch
  }

  private func open(
    _ couch: Couch, _ wanted: String, _ parameters: (String, String)...,
    as form: OpenRevisions.Form = .json
  ) async throws -> CouchAnswer {
    let parameters = query(parameters + [("open_revs", wanted)])
    return try await couch.database.openRevisions(
      DocumentID("a"), try #require(try OpenRevisions.parameter(parameters)),
      DocumentQuery(parameters), as: form)
  }

  @Test func allLeavesComeInOrderOfTheirIdsTombstonesIncluded() async throws {
    let answer = try await open(branched(), "all", ("revs", "true"))
    #expect(
      answer.text
        == #"[{"ok":{"_id":"a","_rev":"2-b","_revisions":{"start":2,"ids":["b","a"]},"x":1}},"#
        + #"{"ok":{"_id":"a","_rev":"2-c","_revisions":{"start":2,"ids":["c","a"]},"x":2}},"#
        + #"{"ok":{"_id":"a","_rev":"3-d","_deleted":true,"#
        + #""_revisions":{"start":3,"ids":["d","d","a"]}}}]"#)
  }

  @Test func namedRevisionsComeInOrderOrAreMissing() async throws {
    let answer = try await open(branched(), #"["2-b","9-x","1-a"]"#)
    #expect(
      answer.text
        == #"[{"ok":{"_id":"a","_rev":"2-b","x":1}},{"missing":"9-x"},{"missing":"1-a"}]"#)
  }

  @Test func latestGivesTheLeavesBelowEachOnce() async throws {
    let answer = try await open(branched(), #"["1-a","2-b","9-x"]"#, ("latest", "true"))
    let expected: [String] = ["2-b", "2-c", "3-d", "9-x"]
    #expect(
      answer.json.array?.map { $0["ok"]?["_rev"]?.string ?? $0["missing"]?.string ?? "" }
        == expected)
  }

  @Test func idNeverUsedHasNoLeavesAndMissesEachRevision() async throws {
    let couch = try await Couch()
    #expect(await refusal { try await open(couch, "all") } == "404 not_found")
    let answer = try await open(couch, #"["1-a"]"#)
    #expect(answer.text == #"[{"missing":"1-a"}]"#)
  }

  @Test(.bug(id: "J15"), arguments: ["false", "true"])
  func revisionThatCannotBeStoredIsMissingBesideTheOthers(latest: String) async throws {
    let asked = #"["1-a/b","2-b","01-\"","1-a/b"]"#
    let odd = #"{"missing":"1-a/b"}"#
    let answer = try await open(branched(), asked, ("latest", latest))
    #expect(
      answer.text
        == #"[\#(odd),{"ok":{"_id":"a","_rev":"2-b","x":1}},{"missing":"01-\""}"#
        + (latest == "true" ? "]" : ",\(odd)]"))
    let parts = try await open(
      branched(), asked, ("latest", latest), as: .multipart(boundary: "b1", inner: "i1"))
    #expect(parts.text.contains(#"{"missing":"01-\""}"#))
  }

  @Test func noRevisionsAskedAreTheWinnerAsInCouchDB() throws {
    #expect(try OpenRevisions.parameter(query([("open_revs", "[]")])) == nil)
  }

  @Test(arguments: ["{}", "[1]", "[", "ALL", #"["x"]"#, ""])
  func malformedListIsRefused(text: String) async {
    let given = query([("open_revs", text)])
    #expect(await refusal { try OpenRevisions.parameter(given) } == "400 bad_request")
  }

  @Test func multipartHasOnePartForEachRevision() async throws {
    let answer = try await open(
      branched(), #"["2-b","9-x"]"#, as: .multipart(boundary: "b1", inner: "i1"))
    #expect(
      answer.text
        == "--b1\r\nContent-Type: application/json\r\n\r\n"
        + #"{"_id":"a","_rev":"2-b","x":1}"#
        + "\r\n--b1\r\nContent-Type: application/json; error=\"true\"\r\n\r\n"
        + #"{"missing":"9-x"}"# + "\r\n--b1--")
  }
}
