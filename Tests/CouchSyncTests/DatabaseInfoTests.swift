import CouchSync
import Documents
import StoreTesting
import TestSupport
import Testing

struct DatabaseInfoTests {
  @Test func infoCountsDocumentsAndTombstones() async throws {
    let couch = try await Couch()
    try await couch.put("a", #"{"x":1}"#)
    try await couch.delete("b", rev: couch.put("b"))
    let info = try await couch.database.info().json
    #expect(info["db_name"] == "db")
    #expect(info["doc_count"] == 1)
    #expect(info["doc_del_count"] == 1)
    #expect(info["update_seq"]?.string == (try await couch.token(3)))
    #expect(info["compact_running"] == false)
    #expect(info["sizes"]?["external"]?.int == 9)
    #expect(info["props"] == [:])
  }

  /// A replicator that goes on beside a database that was deleted and created again would leave out what it has copied
  /// before.
  @Test func anotherDatabaseOfTheNameHasAnotherStartTime() async throws {
    func time(_ answer: CouchAnswer) throws -> String {
      try #require(answer.json["instance_start_time"]?.string)
    }
    let couch = try await Couch()
    let first = try time(try await couch.database.info())
    #expect(!first.isEmpty && first.allSatisfy { ("0"..."9").contains($0) } && first != "0")
    try await couch.put("a")
    let committed = try await couch.database.fullCommit()
    #expect(committed.outcome == .created)
    #expect(try time(committed) == first)
    #expect(try time(try await Couch().database.info()) != first)
  }

  @Test func settingsAreToldAsCouchDBTellsThem() async throws {
    let couch = try await Couch()
    #expect(try await couch.database.revisionsLimit().text == "1000")
    #expect(
      try await couch.database.security().text
        == #"{"members":{"roles":["_admin"]},"admins":{"roles":["_admin"]}}"#)
  }

  @Test func uuidsAreDrawnUpToTheLimit() async throws {
    func draw(_ parameters: (String, String)...) throws -> CouchAnswer {
      try CouchUUIDs.answer(query(parameters))
    }
    #expect(try draw().json["uuids"]?.array?.first?.string?.utf8.count == 32)
    #expect(try draw(("count", "0")).text == #"{"uuids":[]}"#)
    let many = try draw(("count", "1000")).json["uuids"]?.array ?? []
    #expect(Set(many.compactMap(\.string)).count == 1_000)
    #expect(await refusal { try draw(("count", "1001")) } == "400 bad_request")
    #expect(await refusal { try draw(("count", "x")) } == "400 bad_request")
  }
}
