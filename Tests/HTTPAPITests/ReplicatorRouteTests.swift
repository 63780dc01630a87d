import Documents
import HTTPTypes
import Hummingbird
import Stores
import Testing

@testable import HTTPAPI

/// The routes of the replications that this server runs.
struct ReplicatorRouteTests {
  @Test func oneShotAnswersAtItsEnd() async throws {
    try await AccountAPIFixture.open { api in
      let done = try await api.call(
        .administrator, .post, "/couch/_replicate", body: #"{"source":"a","target":"b"}"#)
      #expect(done.status == 200)
      #expect(done.json["ok"]?.bool == true)
      #expect(done["session_id"]?.utf8.count == 32)
      let failed = try await api.call(
        .administrator, .post, "/couch/_replicate", body: #"{"source":"absent","target":"b"}"#)
      #expect(failed.status == 500)
      #expect(failed.error == "db_not_found")
      #expect(failed["reason"] == "could not open absent")
    }
  }

  @Test func valueThatIsNotKnownInTimeIsKnownLater() async {
    let (gate, continuation) = AsyncStream<Int>.makeStream()
    let value = LateValue<Int> {
      for await number in gate { return number }
      return 0
    }
    #expect(await value.value(within: .milliseconds(1)) == nil)
    continuation.yield(7)
    #expect(await value.value(within: .seconds(600)) == 7)
    #expect(await value.value(within: .zero) == 7)
  }

  /// nginx would keep the line ends until the replication has ended.
  @Test(.bug(id: "35/34")) func answerThatBeginsBeforeTheEndIsNotBuffered() {
    let answer = CouchReplicatorController.late(LateValue { .success([:]) })
    #expect(answer.status == .ok && answer.headers[.accelBuffering] == "no")
  }

  @Test func continuousOneIsAcceptedAndEnded() async throws {
    try await AccountAPIFixture.open { api in
      let body = #"{"source":"a","target":"b","continuous":true}"#
      let begun = try await api.call(.administrator, .post, "/couch/_replicate", body: body)
      #expect(begun.status == 202)
      #expect(begun["_local_id"] == "1+continuous")
      for (id, status) in [("1+continuous", 200), ("9", 404)] {
        let ended = try await api.call(
          .administrator, .post, "/couch/_replicate", body: "{\"id\":\"\(id)\",\"cancel\":true}")
        #expect(ended.status == status)
        #expect((ended["_local_id"] == id) == (status == 200))
      }
    }
  }

  @Test func jobsAreListedInPages() async throws {
    try await AccountAPIFixture.open { api in
      let page = try await api.call(
        .administrator, .get, "/couch/_scheduler/jobs?skip=1&limit=1")
      #expect(page.json["total_rows"] == 3)
      #expect(page.json["offset"] == 1)
      #expect(page.json["jobs"]?.array?.map { $0["id"] } == ["2"])
      for id in ["1+continuous", "1%2Bcontinuous"] {
        let job = try await api.call(.administrator, .get, "/couch/_scheduler/jobs/" + id)
        #expect(job["id"] == "1+continuous")
      }
      let absent = try await api.call(.administrator, .get, "/couch/_scheduler/jobs/9")
      #expect(absent.status == 404)
      let tasks = try await api.call(.administrator, .get, "/couch/_active_tasks")
      #expect(tasks.text == #"[{"type":"replication"}]"#)
    }
  }

  @Test func documentsAreListedInPages() async throws {
    try await AccountAPIFixture.open { api in
      for path in ["docs", "docs/_replicator"] {
        let page = try await api.call(
          .administrator, .get, "/couch/_scheduler/\(path)?skip=1&limit=1")
        #expect(page.json["total_rows"] == 3)
        #expect(page.json["docs"]?.array?.map { $0["doc_id"] } == ["b"])
        for (states, ids) in [
          ("Running", ["a", "c"]), ("failed,error", ["b"]), ("", ["a", "b", "c"]),
        ] {
          let chosen = try await api.call(
            .administrator, .get, "/couch/_scheduler/\(path)?states=\(states)")
          #expect(chosen.json["total_rows"] == 3)
          #expect(chosen.json["docs"]?.array?.map { $0["doc_id"]?.string ?? "" } == ids)
        }
      }
      let unknown = try await api.call(
        .administrator, .get, "/couch/_scheduler/docs?states=running,late")
      #expect(unknown.status == 400 && unknown.error == "query_parse_error")
      #expect(
        unknown["reason"]
          == "Unknown states [late]. Choose from: [initializing,error,running,pending,crashing,completed,failed]"
      )
      let one = try await api.call(.administrator, .get, "/couch/_scheduler/docs/_replicator/a")
      #expect(one["doc_id"] == "a")
      for path in ["_replicator/none", "plans", "plans/a"] {
        let absent = try await api.call(.administrator, .get, "/couch/_scheduler/docs/" + path)
        #expect(absent.status == 404)
      }
    }
  }

  @Test func secretsOfDocumentsAreNotStoredHoweverTheyCome() async throws {
    try await AccountAPIFixture.open { api in
      let path = "/couch/_replicator"
      #expect(try await api.call(.administrator, .put, path).status == 201)
      let document = #"{"_id":"ID","secret":1,"n":2}"#
      func named(_ id: String) -> String { document.replacing("ID", with: id) }
      let put = try await api.call(.administrator, .put, path + "/a", body: named("a"))
      let posted = try await api.call(.administrator, .post, path, body: named("b"))
      let bulk = try await api.call(
        .administrator, .post, path + "/_bulk_docs", body: "{\"docs\":[\(named("c"))]}")
      #expect([put.status, posted.status, bulk.status] == [201, 201, 201])
      for id in ["a", "b", "c"] {
        let stored = try await api.call(.administrator, .get, path + "/" + id)
        #expect(stored.json["n"] == 2 && stored.json["secret"] == nil)
      }
    }
  }

  @Test func malformedDocumentIsRefusedHoweverAClientWritesIt() async throws {
    try await AccountAPIFixture.open { api in
      let path = "/couch/_replicator"
      #expect(try await api.call(.administrator, .put, path).status == 201)
      let (wrong, right) = (#"{"wrong":1}"#, #"{"_id":"b"}"#)
      for reply in [
        try await api.call(.administrator, .put, path + "/a", body: wrong),
        try await api.call(.administrator, .post, path, body: wrong),
        try await api.call(
          .administrator, .post, path + "/_bulk_docs", body: "{\"docs\":[\(right),\(wrong)]}"),
      ] {
        #expect(reply.status == 403 && reply.error == "forbidden")
        #expect(reply["reason"] == "it is wrong")
      }
      // As in CouchDB, nothing of such a request is written. Design and local documents describe no replication, and a
      // peer's revisions are stored.
      #expect(try await api.call(.administrator, .get, path + "/b").status == 404)
      for id in ["_design/a", "_local/a"] {
        let put = try await api.call(.administrator, .put, "\(path)/\(id)", body: wrong)
        #expect(put.status == 201)
      }
      let replicated = try await api.call(
        .administrator, .put, path + "/c?new_edits=false", body: #"{"_rev":"1-a","wrong":1}"#)
      #expect(replicated.status == 201)
    }
  }

  /// Regression: it was looked at after five seconds, when it had long copied all.
  @Test func remoteThatHasJustBegunIsLookedAtEachSecond() async throws {
    let person = try #require(AccountID(String(repeating: "a", count: 32)))
    var events = RemoteEvents(of: person, ScriptedReplications())
    #expect(events.rhythm.look == .seconds(5))
    let part = try await events.next(after: Subscription.News())
    #expect(part.pieces.count == 1 && events.rhythm.look == .seconds(1))
  }

  @Test func databaseOfReplicationsIsTheAdministratorsAlone() async throws {
    try await AccountAPIFixture.open { api in
      let path = "/couch/_replicator"
      #expect(try await api.call(.administrator, .put, path).status == 201)
      _ = try await api.call(
        .administrator, .put, path + "/_security", body: AccountAPIFixture.security)
      for person in AccountAPIFixture.Person.allCases where person != .administrator {
        for (method, below, body) in [
          (HTTPRequest.Method.get, "", nil), (.get, "/_all_docs", nil), (.put, "/x", "{}"),
          (.get, "/_changes", nil), (.put, "", nil), (.delete, "", nil),
        ] as [(HTTPRequest.Method, String, String?)] {
          let reply = try await api.call(person, method, path + below, body: body)
          #expect([403, 404].contains(reply.status), "\(method) \(below)")
        }
      }
    }
  }

  @Test(arguments: [
    (HTTPRequest.Method.post, "_replicate"), (.get, "_active_tasks"), (.get, "_scheduler/jobs"),
    (.get, "_scheduler/jobs/1"), (.get, "_scheduler/docs"), (.get, "_scheduler/docs/_replicator"),
    (.get, "_scheduler/docs/_replicator/a"),
  ])
  func othersMayNot(method: HTTPRequest.Method, path: String) async throws {
    try await AccountAPIFixture.open { api in
      for person in AccountAPIFixture.Person.allCases where person != .administrator {
        let reply = try await api.call(
          person, method, "/couch/" + path,
          body: method == .post ? #"{"source":"a","target":"b"}"# : nil)
        #expect(reply.status == 403)
        #expect(reply.error == "forbidden")
      }
    }
  }
}
