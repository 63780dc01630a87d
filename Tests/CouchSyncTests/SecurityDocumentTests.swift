import CouchSync
import Documents
import StoreTesting
import Stores
import Testing

@testable import HTTPAPI

/// Who may use a database that the administrator created.
struct SecurityDocumentTests {
  private static func read(_ text: String) throws -> SecurityDocument {
    try SecurityDocument(json(text))
  }

  @Test func namesAreReadAndTheRestIsKept() async throws {
    let text = #"{"x":1.0,"members":{"names":["a","b"],"roles":["r"]},"admins":{"names":["c"]}}"#
    let security = try Self.read(text)
    #expect(security.members == ["a", "b"])
    #expect(security.administrators == ["c"])
    let couch = try await Couch()
    #expect(try await couch.database.setSecurity(security).text == #"{"ok":true}"#)
    #expect(try await couch.database.security().text == text)
  }

  @Test func readersAreMembersUnlessThereAreMembers() throws {
    #expect(try Self.read(#"{"readers":{"names":["a"]}}"#).members == ["a"])
    #expect(try Self.read(#"{"readers":{"names":["a"]},"members":{}}"#).members == [])
  }

  @Test(arguments: [
    "[]", "1", #"{"members":[]}"#, #"{"admins":{"names":{}}}"#, #"{"admins":{"names":[null]}}"#,
    #"{"members":{"roles":"_admin"}}"#, #"{"members":{"roles":[1]}}"#,
  ])
  func anotherShapeIsRefused(text: String) async {
    #expect(await refusal { try Self.read(text) } == "400 bad_request")
  }

  @Test func standardNamesNobody() {
    #expect(SecurityDocument.standard.members.isEmpty)
    #expect(SecurityDocument.standard.administrators.isEmpty)
  }

  @Test func databaseIsMadeOnce() async throws {
    let couch = try await Couch()
    try couch.database.requireNew()
    #expect(await refusal { try couch.database.requireNew() } == "412 file_exists")
    #expect(try await couch.database.info().json["update_seq"]?.string == couch.token(0))
  }

  @Test func designDocumentsAreRefusedToThoseWhoMayNot() async throws {
    let couch = try await Couch()
    let member = CouchDatabase(
      name: "db", store: couch.store, as: .server, saying: ErrorTable.couchWord, mayDesign: false)
    let design = try DocumentID("_design/a")
    let body = try json("{}")
    #expect(await refusal { try await member.put(design, body) } == "403 forbidden")
    #expect(await refusal { try await member.delete(design, base: .none) } == "403 forbidden")
    #expect(
      await refusal { try await member.post(json(#"{"_id":"_design/b"}"#)) } == "403 forbidden")
    let bulk = try BulkRequest(json(#"{"docs":[{"_id":"_design/c"},{"_id":"d"}]}"#))
    let items = try await member.bulkDocuments(bulk).json.array
    #expect(items?.map { $0["error"]?.string } == ["forbidden", nil])
    #expect(try await couch.database.put(design, body).outcome == .created)
  }

  @Test(
    arguments: [
      ([], ["a", "b", "c"]), ([("limit", "1")], ["a"]), ([("skip", "2")], ["c"]),
      ([("descending", "true"), ("startkey", "\"b\"")], ["b", "a"]),
      ([("start_key", "\"b\""), ("end_key", "\"c\""), ("inclusive_end", "false")], ["b"]),
    ] as [([(String, String)], [String])])
  func databasesAreChosenAsDocumentsAre(parameters: [(String, String)], names: [String]) throws {
    let asked = try DatabaseNamesQuery(query(parameters))
    #expect(asked.chosen(from: ["a", "b", "c"]) == names)
  }
}
