import Documents
import HTTPTypes
import Testing

@testable import HTTPAPI

/// What the administrator sees and starts. Other callers do not learn that it exists.
@Suite(.timeLimit(.minutes(60))) struct AdministratorRouteTests {
  private static let operations: [(HTTPRequest.Method, String)] = [
    (.get, "/v1/admin/stores"), (.get, "/v1/admin/users"), (.get, "/v1/admin/guests"),
    (.get, "/v1/admin/lists"), (.get, "/v1/admin/sessions"), (.get, "/v1/admin/upstreams"),
    (.get, "/v1/admin/connections"), (.get, "/v1/admin/history"), (.post, "/v1/admin/backups"),
    (.post, "/v1/admin/verifications"), (.post, "/v1/admin/catalogue"), (.get, "/v1/admin/jobs"),
    (.post, "/v1/admin/catalogue/undo"),
    (.get, "/v1/admin/jobs/00000000000000000000000000000000"), (.post, "/v1/admin/repairs"),
    (.post, "/v1/admin/users"), (.delete, "/v1/admin/users/member"),
    (.delete, "/v1/admin/users/member/sessions"), (.get, "/v1/admin/server"),
    (.get, "/v1/admin/backups"), (.delete, "/v1/admin/backups/1970-01-01T000000.000Z"),
    (.post, "/v1/admin/backups/1970-01-01T000000.000Z/verifications"), (.get, "/v1/admin/audit"),
    (.post, "/v1/admin/users/member/password-resets"),
    (.delete, "/v1/admin/jobs/00000000000000000000000000000000"),
  ]

  /// What is only for the control socket, also not for the administrator with a password.
  private static let socketOnly: [(HTTPRequest.Method, String)] = [
    (.post, "/v1/admin/replacements"), (.post, "/v1/admin/moves"),
    (.put, "/v1/admin/users/member/password"),
  ]

  /// An answer without what differs between any two.
  private static func body(_ reply: Reply) -> [String] {
    let id = reply.json["requestId"]?.string ?? "none"
    var fields = reply.headers
    fields[values: HTTPField.Name("X-Request-Id") ?? .date] = []
    return ["\(reply.status)", reply.text.replacing(id, with: "ID")]
      + fields.map { "\($0.name): \($0.value)" }.sorted()
  }

  @Test func nobodyElseLearnsThatAnythingIsThere() async throws {
    try await AccountAPIFixture.open { api in
      for (method, path) in Self.operations + Self.socketOnly {
        for person in AccountAPIFixture.Person.allCases where person != .administrator {
          let absent = try await api.call(person, method, "/v1/absent")
          let reply = try await api.call(person, method, path)
          #expect(Self.body(reply) == Self.body(absent), "\(method) \(path)")
        }
        for fields: HTTPFields in [
          [:], [.authorization: "Bearer no.good"], [.authorization: "Digest x"],
          [.cookie: "AuthSession=none"],
        ] {
          let absent = try await api.api.call(method, "/v1/absent", headers: fields)
          let reply = try await api.api.call(method, path, headers: fields)
          #expect(Self.body(reply) == Self.body(absent), "\(method) \(path) \(fields)")
        }
      }
    }
  }

  @Test func whatIsForTheControlSocketIsNotThereForTheAdministratorElsewhere() async throws {
    try await AccountAPIFixture.open { api in
      for (method, path) in Self.socketOnly {
        let absent = try await api.call(.administrator, method, "/v1/absent")
        let reply = try await api.call(.administrator, method, path)
        #expect(Self.body(reply) == Self.body(absent), "\(method) \(path)")
      }
      let named = try await api.call(
        .administrator, .post, "/v1/admin/backups", body: #"{"path":"/tmp/b"}"#)
      #expect(named.status == 403 && named.error == "forbidden")
    }
  }

  @Test func otherMethodsAreNotThereForAnybody() async throws {
    try await AccountAPIFixture.open { api in
      for method in [HTTPRequest.Method.patch, .delete, .put] {
        let absent = try await api.call(.guest, method, "/v1/absent")
        #expect(
          Self.body(try await api.call(.guest, method, "/v1/admin/stores")) == Self.body(absent))
        #expect(try await api.call(.administrator, method, "/v1/admin/stores").status == 404)
      }
    }
  }

  @Test func usersAreFoundByAPartOfTheNameAndSorted() async throws {
    try await AccountAPIFixture.open { api in
      for name in ["Zoe", "anton", "Bert", "ANNA"] {
        let body = APIFixture.credentials(name)
        #expect(
          try await api.call(.administrator, .post, "/v1/admin/users", body: body).status == 201)
      }
      func names(_ query: String) async throws -> [String] {
        let reply = try await api.call(.administrator, .get, "/v1/admin/users?" + query)
        return reply.json["users"]?.array?.compactMap { $0["username"]?.string } ?? []
      }
      #expect(try await names("name=AN") == ["ANNA", "anton", "stranger"])
      #expect(try await names("name=an&limit=1") == ["ANNA"])
      let nobody = try await names("name=nobody")
      #expect(nobody == [])
      let all = ["ANNA", "anton", "Bert", "chief", "member", "stranger", "Zoe"]
      #expect(try await names("sort=name") == all)
      #expect(try await Set(names("sort=created")) == Set(all))
      for query in ["sort=name", "sort=created", "name=n&sort=name", "name=n"] {
        let whole = try await names(query)
        var (paged, next) = ([String](), "")
        repeat {
          let path = "/v1/admin/users?\(query)&limit=2\(next)"
          let page = try await api.call(.administrator, .get, path)
          paged += (page.json["users"]?.array ?? []).compactMap { $0["username"]?.string }
          next = page.json["next"]?.string.map { "&after=" + $0 } ?? ""
        } while !next.isEmpty
        #expect(paged == whole && whole.count > 2, "\(query)")
      }
      for wrong in ["sort=size", "name=a&after=b", "sort=name&after=b"] {
        let reply = try await api.call(.administrator, .get, "/v1/admin/users?" + wrong)
        #expect(reply.error == "invalid_parameter", "\(wrong)")
      }
    }
  }

  @Test func aUsersSessionsEndAndThePasswordStays() async throws {
    try await AccountAPIFixture.open { api in
      let path = "/v1/admin/users/MEMBER/sessions"
      let ended = try await api.call(.administrator, .delete, path)
      #expect(ended.status == 204)
      #expect(try await api.call(.member, .get, "/v1/me").status == 401)
      #expect(try await api.call(.stranger, .get, "/v1/me").status == 200)
      let again = APIFixture.credentials("member")
      #expect(try await api.api.call(.post, "/v1/sessions", body: again).status == 200)
      let nobody = "/v1/admin/users/nobody/sessions"
      #expect(try await api.call(.administrator, .delete, nobody).status == 404)
    }
  }

  @Test func theServerAndItsBackupsAreShown() async throws {
    try await AccountAPIFixture.open { api in
      let server = try await api.call(.administrator, .get, "/v1/admin/server")
      #expect(server["version"] == "1.2.3" && server.json["freeBytes"]?.int == 400)
      let backups = try await api.call(.administrator, .get, "/v1/admin/backups")
      #expect(backups.json["backups"]?.array?.first?["isWhole"] == true)
      let path = "/v1/admin/backups/1970-01-01T000000.000Z"
      let job = try await api.call(.administrator, .post, path + "/verifications")
      #expect(job.status == 202 && job["kind"] == "verification")
      #expect(try await api.call(.administrator, .delete, "/v1/admin/backups/none").status == 404)
    }
  }

  @Test func noBackupIsRemovedWhileAJobRuns() async throws {
    try await AccountAPIFixture.open { api in
      let path = "/v1/admin/backups/1970-01-01T000000.000Z"
      #expect(try await api.call(.administrator, .delete, path).status == 204)
      #expect(try await api.call(.administrator, .post, "/v1/admin/backups").status == 202)
      let reply = try await api.call(.administrator, .delete, path)
      #expect(reply.status == 409 && reply.error == "job_running")
    }
  }

  @Test func usersAreMadeAndErased() async throws {
    try await AccountAPIFixture.open { api in
      let body = APIFixture.credentials("Ada")
      let made = try await api.call(.administrator, .post, "/v1/admin/users", body: body)
      #expect(made.status == 201)
      let token = try #require(try await api.api.call(.post, "/v1/sessions", body: body)["token"])
      let me = try await api.api.call(.get, "/v1/me", token: token)
      #expect(me["id"] == made["id"])
      let again = try await api.call(.administrator, .post, "/v1/admin/users", body: body)
      #expect(again.status == 409)
      let erased = try await api.call(.administrator, .delete, "/v1/admin/users/ada")
      #expect(erased.status == 204)
      #expect(try await api.api.call(.get, "/v1/me", token: token).status == 401)
      let twice = try await api.call(.administrator, .delete, "/v1/admin/users/ada")
      #expect(twice.status == 404 && twice["reason"] == "There is no user of this name or id.")
    }
  }

  @Test func aCookieNeedsAnOriginToStartSomething() async throws {
    try await AccountAPIFixture.open { api in
      let logIn = try await api.api.call(
        .post, "/couch/_session", body: "name=admin&password=\(APIFixture.password)",
        headers: [.contentType: "application/x-www-form-urlencoded"])
      let cookie = String(try #require(logIn.headers[.setCookie]).prefix { $0 != ";" })
      let path = "/v1/admin/verifications"
      let without = try await api.api.call(.post, path, headers: [.cookie: cookie])
      #expect(without.status == 404)
      let foreign: HTTPFields = [.cookie: cookie, .origin: "http://elsewhere.example"]
      #expect(try await api.api.call(.post, path, headers: foreign).status == 404)
      let read = try await api.api.call(.get, "/v1/admin/users", headers: [.cookie: cookie])
      #expect(read.status == 200)
    }
  }

  @Test func storesComeInPagesThatLeaveNoneOut() async throws {
    try await AccountAPIFixture.open { api in
      for _ in 0..<5 {
        let guest = try await api.api.call(.post, "/v1/guests")
        let token = try #require(guest.json["token"]?.string)
        try await api.api.call(.put, "/v1/bookmarks/h", token: token, body: #"{"name":"H"}"#)
      }
      let whole = try await api.call(.administrator, .get, "/v1/admin/stores")
      let all = (whole.json["stores"]?.array ?? []).compactMap { $0["name"]?.string }
      #expect(whole.json["next"] == nil && all.count > 6 && Set(all).count == all.count)
      #expect(all.contains("plans_$()+-/1") && all.contains("system"))
      var (paged, next) = ([String](), "")
      repeat {
        let page = try await api.call(.administrator, .get, "/v1/admin/stores?limit=2\(next)")
        paged += (page.json["stores"]?.array ?? []).compactMap { $0["name"]?.string }
        next = page.json["next"]?.string.map { "&after=" + $0.urlSegment } ?? ""
      } while !next.isEmpty
      #expect(paged == all)
      let guests = try await api.call(.administrator, .get, "/v1/admin/stores?kind=guest")
      let kinds = Set((guests.json["stores"]?.array ?? []).compactMap { $0["kind"]?.string })
      #expect(kinds == ["guest"])
      for query in ["limit=0", "limit=101", "after=x", "kind=x", "unknown=1"] {
        #expect(try await api.call(.administrator, .get, "/v1/admin/stores?\(query)").status == 400)
      }
    }
  }

  @Test func usersComeInPagesThatLeaveNoneOut() async throws {
    try await AccountAPIFixture.open { api in
      for number in 0..<5 {
        let body = #"{"username":"person-\#(number)","password":"\#(APIFixture.password)"}"#
        #expect(try await api.api.call(.post, "/v1/users", body: body).status == 201)
      }
      let whole = try await api.call(.administrator, .get, "/v1/admin/users")
      let all = (whole.json["users"]?.array ?? []).compactMap { $0["username"]?.string }
      #expect(Set(all).isSuperset(of: (0..<5).map { "person-\($0)" }))
      var (paged, next) = ([String](), "")
      repeat {
        let page = try await api.call(.administrator, .get, "/v1/admin/users?limit=2\(next)")
        paged += (page.json["users"]?.array ?? []).compactMap { $0["username"]?.string }
        next = page.json["next"]?.string.map { "&after=" + $0 } ?? ""
      } while !next.isEmpty
      #expect(paged == all)
      let sessions = try await api.call(.administrator, .get, "/v1/admin/sessions?limit=1")
      #expect(sessions.json["sessions"]?.array?.count == 1)
    }
  }

  @Test func oneJobRunsAtATimeAndIsToldOf() async throws {
    try await AccountAPIFixture.open { api in
      let verified = try await api.call(.administrator, .post, "/v1/admin/verifications")
      #expect(verified.status == 202)
      let index = try #require(verified.headers[.location])
      var job = verified
      while job.json["state"] == "running" {
        await Task.yield()
        job = try await api.call(.administrator, .get, index)
      }
      #expect(job.json["state"] == "done" && job.json["findings"] == ["a file: a damage"])

      let backup = try await api.call(.administrator, .post, "/v1/admin/backups")
      #expect(backup.status == 202)
      let second = try await api.call(.administrator, .post, "/v1/admin/verifications")
      #expect(second.status == 409 && second.json["error"] == "job_running")
      let jobs = try await api.call(.administrator, .get, "/v1/admin/jobs")
      #expect(jobs.json["jobs"]?.array?.first?["kind"] == "backup")
      await api.api.jobs.stop()
      let ended = try await api.call(.administrator, .get, try #require(backup.headers[.location]))
      #expect(ended.json["state"] == "failed")
      let late = try await api.call(.administrator, .post, "/v1/admin/backups")
      #expect(late.status == 503)
    }
  }

  /// The lines of a job that the administrator follows.
  private static func follow(_ name: String, _ api: AccountAPIFixture) async throws -> [Reply] {
    var fields: HTTPFields = [.accept: "application/x-ndjson"]
    fields[.authorization] = "Bearer " + (try api.token(.administrator))
    let reply = try await api.api.send(.post, "/v1/admin/" + name, body: nil, headers: fields)
    #expect(reply.status == 200 && reply.mediaType == "application/x-ndjson")
    return reply.lines
  }

  @Test func aJobThatIsFollowedIsToldLineByLine() async throws {
    try await AccountAPIFixture.open { api in
      let damaged = try await Self.follow("verifications", api)
      #expect(damaged.map { $0.json["finding"] } == ["a file: a damage", nil])
      #expect(damaged.last?.json["state"] == "done" && damaged.last?.json["damaged"] == true)
      #expect(damaged.last?.json["result"] == "1 damage" && damaged.last?.json["error"] == nil)
      let failed = try #require(try await Self.follow("repairs", api).last)
      #expect(failed.json["state"] == "failed" && failed.json["error"] == "configuration")
      #expect(failed.json["result"] == "The stores are elsewhere")
    }
  }

  @Test func aJobThatIsCancelledEndsAndAnotherMayBegin() async throws {
    try await AccountAPIFixture.open { api in
      let absent = try await api.call(.administrator, .delete, "/v1/admin/jobs/none")
      #expect(absent.status == 404)
      for _ in 1...2 {
        let backup = try await api.call(.administrator, .post, "/v1/admin/backups")
        let path = try #require(backup.headers[.location])
        #expect(try await api.call(.administrator, .delete, path).status == 202)
        var job = backup
        while job.json["state"] == "running" {
          await Task.yield()
          job = try await api.call(.administrator, .get, path)
        }
        #expect(job.json["state"] == "failed")
      }
    }
  }

  @Test func aJobWithinATaskIsCancelledByItsIDAndWithItsTask() async throws {
    let jobs = AdministrationJobs(now: { Timestamp(seconds: 0) })
    @Sendable func run() async throws -> AdministrationJobs.Job {
      try await jobs.run(.backup) { _ in
        try await Task.sleep(for: .seconds(3_600))
        return .init("never")
      }.job
    }
    let byID = Task { try await run() }
    while jobs.all.isEmpty { await Task.yield() }
    jobs.cancel(try #require(jobs.all.first).id)
    #expect(try await byID.value.state == .failed)
    let withTask = Task { try await run() }
    while !jobs.isBusy { await Task.yield() }
    withTask.cancel()
    #expect(try await withTask.value.state == .failed)
  }

  @Test func aJobEndsWithTheRequestThatFollowsIt() async throws {
    try await AccountAPIFixture.open { api in
      let following = Task { try await Self.follow("backups", api) }
      var job: JSONValue?
      while job?["done"] != 1 {
        await Task.yield()
        let jobs = try await api.call(.administrator, .get, "/v1/admin/jobs")
        job = jobs.json["jobs"]?.array?.first
      }
      following.cancel()
      while job?["state"] != "failed" {
        await Task.yield()
        let jobs = try await api.call(.administrator, .get, "/v1/admin/jobs")
        job = jobs.json["jobs"]?.array?.first
      }
      _ = try? await following.value
    }
  }

  @Test func anImportIsAnsweredAtItsEnd() async throws {
    try await AccountAPIFixture.open { api in
      let path = "/v1/admin/catalogue?strict=true"
      let done = try await api.call(.administrator, .post, path, body: #"{"id":"a"}"#)
      #expect(done.status == 200 && done.json["result"] == "10 bytes, strictly")
      let forced = try await api.call(
        .administrator, .post, "/v1/admin/catalogue?replace=true", body: #"{"id":"a"}"#)
      #expect(forced.json["result"] == "10 bytes, replacing")
      let tried = try await api.call(
        .administrator, .post, "/v1/admin/catalogue?dryRun=true", body: #"{"id":"a"}"#)
      #expect(tried.json["result"] == "10 bytes, trying")
    }
  }

  @Test func aFailedJobIsNoSuccess() async throws {
    try await AccountAPIFixture.open { api in
      let failed = try await api.call(.administrator, .post, "/v1/admin/catalogue")
      #expect(failed.status == 422 && failed.error == "import_refused")
      #expect(failed["reason"] == "There is no hotel")
      let job = try #require(failed.json["job"])
      #expect(job["state"] == "failed" && job["result"] == "There is no hotel")
      let undone = try await api.call(.administrator, .post, "/v1/admin/catalogue/undo")
      #expect(undone.status == 410 && undone.error == "undo_over")
      #expect(undone.json["job"]?["findings"] == ["one finding"])
      let jobs = try await api.call(.administrator, .get, "/v1/admin/jobs")
      #expect(jobs.json["jobs"]?.array?.map { $0["state"] } == ["failed", "failed"])
    }
  }

  @Test func upstreamsAndConnectionsAreAsTheyAre() async throws {
    try await AccountAPIFixture.open { api in
      let upstreams = try await api.call(.administrator, .get, "/v1/admin/upstreams")
      #expect(upstreams.json["upstreams"]?.array?.first?["breaker"] == "open")
      #expect(upstreams.json["cache"]?["searches"] == ["miss": 3])
      let connections = try await api.call(.administrator, .get, "/v1/admin/connections")
      #expect(connections.json["addresses"] == [["address": "192.0.2.1", "connections": 2]])
      let history = try await api.call(.administrator, .get, "/v1/admin/history")
      #expect(history.json["samples"] == [] && history.json["seconds"] == 10)
    }
  }
}
