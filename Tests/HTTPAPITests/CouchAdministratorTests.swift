import Documents
import Foundation
import HTTPTypes
import Stores
import Testing

@testable import HTTPAPI

/// The administrator's operations on whole databases.
@Suite(.timeLimit(.minutes(60))) struct CouchAdministratorTests {
  private static func names(_ reply: Reply) -> [String]? {
    reply.json.array?.compactMap(\.string)
  }

  @Test func sessionNamesTheAdministratorsRoleByEveryCredential() async throws {
    try await AccountAPIFixture.open { api in
      let form: HTTPFields = [.contentType: "application/x-www-form-urlencoded"]
      let logIn = try await api.api.call(
        .post, "/couch/_session", body: "name=admin&password=\(APIFixture.password)", headers: form)
      #expect(logIn.json["roles"] == ["_admin"])
      let cookie = try #require(logIn.headers[.setCookie]).prefix { $0 != ";" }
      let token = try api.token(.administrator)
      for fields in [
        AccountAPIFixture.basic, [.cookie: String(cookie)], [.authorization: "Bearer " + token],
      ] {
        let session = try await api.api.call(.get, "/couch/_session", headers: fields)
        #expect(session.json["userCtx"] == ["name": "admin", "roles": ["_admin"]])
        let all = try await api.api.call(.get, "/couch/_all_dbs", headers: fields)
        #expect(Self.names(all) == ["plans_$()+-/1"])
      }
      for person in [AccountAPIFixture.Person.guest, .member, .databaseAdministrator] {
        let session = try await api.call(person, .get, "/couch/_session")
        #expect(session.json["userCtx"]?["roles"] == [])
      }
    }
  }

  @Test(
    arguments: [
      (HTTPRequest.Method.get, "/_all_dbs", nil), (.get, "/_dbs_info", nil),
      (.post, "/_dbs_info", #"{"keys":["plans"]}"#), (.get, "/_active_tasks", nil),
    ] as [(HTTPRequest.Method, String, String?)])
  func whatTheServerTellsIsForTheAdministrator(
    method: HTTPRequest.Method, path: String, body: String?
  ) async throws {
    try await AccountAPIFixture.open { api in
      for person in AccountAPIFixture.Person.allCases {
        let reply = try await api.call(person, method, "/couch" + path, body: body)
        #expect(reply.status == (person == .administrator ? 200 : 403))
        if person != .administrator {
          #expect(reply.text == #"{"error":"forbidden","reason":"You are not a server admin."}"#)
        }
      }
      #expect(try await api.api.call(method, "/couch" + path, body: body).status == 401)
    }
  }

  @Test(
    arguments: [
      ("", ["a", "b", "c/d"]), ("limit=2", ["a", "b"]), ("skip=1", ["b", "c/d"]),
      ("limit=0", []), ("skip=9", []), ("descending=true", ["c/d", "b", "a"]),
      ("descending=true&limit=1", ["c/d"]), ("startkey=%22b%22", ["b", "c/d"]),
      ("start_key=%22b%22&end_key=%22b%22", ["b"]), ("endkey=%22b%22", ["a", "b"]),
      ("endkey=%22b%22&inclusive_end=false", ["a"]), ("key=%22c/d%22", ["c/d"]),
      ("key=%22x%22", []), ("startkey=%22b%22&descending=true", ["b", "a"]),
      ("endkey=%22b%22&descending=true", ["c/d", "b"]),
      ("endkey=%22b%22&descending=true&inclusive_end=false", ["c/d"]),
      ("startkey=null", ["a", "b", "c/d"]), ("startkey=%5B%5D", ["a", "b", "c/d"]),
      ("other=1", ["a", "b", "c/d"]),
    ] as [(String, [String])])
  func listTakesCouchDBsParameters(query: String, names: [String]) async throws {
    try await AccountAPIFixture.open { api in
      for name in ["b", "c%2Fd", "a"] {
        try await api.call(.administrator, .put, "/couch/" + name)
      }
      try await api.call(.administrator, .delete, AccountAPIFixture.path)
      let all = try await api.call(.administrator, .get, "/couch/_all_dbs?" + query)
      #expect(Self.names(all) == names)
      let info = try await api.call(.administrator, .get, "/couch/_dbs_info?" + query)
      #expect(info.json.array?.compactMap { $0["key"]?.string } == names)
      #expect(info.json.array?.compactMap { $0["info"]?["db_name"]?.string } == names)
    }
  }

  @Test(arguments: ["limit=-1", "limit=x", "skip=1.5", "descending=1", "startkey=a", "key={"])
  func malformedParametersAreRefused(query: String) async throws {
    try await AccountAPIFixture.open { api in
      let reply = try await api.call(.administrator, .get, "/couch/_all_dbs?" + query)
      #expect(reply.status == 400)
      #expect(reply.error == (query.contains("key") ? "bad_request" : "query_parse_error"))
    }
  }

  @Test(arguments: [
    "a", "hotels", "a%2Fb", "a%2fb%2F%2Fc", "z9_$()+-", "z9_%24%28%29%2B-",
    "guest-0123456789abcdef0123456789abcde", "user-0123456789abcdef0123456789abcdef0",
    "listing-0123456789abcdef0123456789abcdef",
    "system", "a" + String(repeating: "0", count: 237),
  ])
  func legalNamesMakeDatabases(name: String) async throws {
    try await AccountAPIFixture.open { api in
      let path = "/couch/" + name
      #expect(try await api.call(.administrator, .get, path).status == 404)
      #expect(try await api.call(.administrator, .head, path).status == 404)
      #expect(try await api.call(.administrator, .put, path + "/a", body: "{}").status == 404)
      let made = try await api.call(.administrator, .put, path + "/")
      #expect(made.status == 201)
      #expect(made.text == #"{"ok":true}"#)
      let info = try await api.call(.administrator, .get, path)
      let decoded = try #require(name.removingPercentEncoding)
      #expect(info["db_name"] == decoded)
      let located = try #require(made.headers[.location])
      let server = "http://localhost"
      #expect(located.hasPrefix(server + "/couch/"))
      let same = try await api.call(
        .administrator, .get, String(located.dropFirst(server.count)))
      #expect(same.bytes == info.bytes)
      #expect(try await api.call(.administrator, .head, path).status == 200)
      let again = try await api.call(.administrator, .put, path)
      #expect(again.status == 412)
      #expect(
        again["reason"] == "The database could not be created, the file already exists.")
      #expect(try await api.call(.administrator, .put, path + "/a", body: "{}").status == 201)
      #expect(try await api.call(.administrator, .delete, path).text == #"{"ok":true}"#)
      let gone = try await api.call(.administrator, .delete, path)
      #expect(gone.status == 404)
      #expect(gone.text == #"{"error":"not_found","reason":"Database does not exist."}"#)
      #expect(try await api.call(.administrator, .put, path).status == 201)
      #expect(try await api.call(.administrator, .get, path).json["doc_count"] == 0)
    }
  }

  @Test(arguments: [
    ("Upper", "illegal_database_name"), ("0a", "illegal_database_name"),
    ("_users", "illegal_database_name"), ("_global_changes", "illegal_database_name"),
    ("_config", "illegal_database_name"), ("a.b", "illegal_database_name"),
    ("a%20b", "illegal_database_name"), ("%C3%A9", "illegal_database_name"),
    ("a%0A", "illegal_database_name"), ("a%5Cb", "illegal_database_name"),
    ("guest-0123456789abcdef0123456789abcdef", "illegal_database_name"),
    ("user-0123456789abcdef0123456789abcdef", "illegal_database_name"),
    ("list-0123456789abcdef0123456789abcdef", "illegal_database_name"),
    ("a" + String(repeating: "0", count: 238), "database_name_too_long"),
    ("a%00b", "invalid_uri"), ("a%FF", "invalid_uri"),
  ])
  func otherNamesAreRefused(name: String, error: String) async throws {
    try await AccountAPIFixture.open { api in
      let reply = try await api.call(.administrator, .put, "/couch/" + name)
      #expect(reply.status == 400)
      #expect(reply.error == error)
      let all = try await api.call(.administrator, .get, "/couch/_all_dbs")
      #expect(Self.names(all)?.count == 1)
    }
  }

  @Test func revisionInADeletionIsTakenForAMistake() async throws {
    try await AccountAPIFixture.open { api in
      let reply = try await api.call(.administrator, .delete, AccountAPIFixture.path + "?rev=1-a")
      #expect(reply.status == 400)
      #expect(reply["reason"]?.contains("Did you mean to DELETE a document instead?") == true)
      #expect(try await api.call(.administrator, .get, AccountAPIFixture.path).status == 200)
    }
  }

  @Test func partitionedDatabasesAreNotOffered() async throws {
    try await AccountAPIFixture.open { api in
      let put = try await api.call(.administrator, .put, "/couch/parts?partitioned=true")
      #expect(put.status == 501)
      let neither = try await api.call(.administrator, .put, "/couch/parts?partitioned=1")
      #expect(neither.status == 400 && neither["reason"] == "Invalid `partitioned` parameter")
      #expect(try await api.call(.administrator, .get, "/couch/parts").status == 404)
      let plain = try await api.call(.administrator, .put, "/couch/parts?q=8&n=3")
      #expect(plain.status == 201)
    }
  }

  /// For the administrator, a person's own store is like an absent database.
  @Test func peoplesStoresAreNotTheAdministrators() async throws {
    try await AccountAPIFixture.open { api in
      let operations = CouchAccessTests.operations.filter { !$0.isOfTheServer }
      for person in [AccountAPIFixture.Person.guest, .member] {
        let me = try await api.call(person, .get, "/v1/me")
        let own = "/couch/" + (try #require(me["store"]))
        try await api.call(person, .put, own + "/secret", body: #"{"secret":1}"#)
        for operation in operations {
          let mine = try await api.call(
            .administrator, operation.method, own + operation.path, body: operation.body)
          let absent = try await api.call(
            .administrator, operation.method, AccountAPIFixture.absent + operation.path,
            body: operation.body)
          #expect(mine.status == 404, "\(operation.testDescription)")
          #expect(mine.bytes == absent.bytes)
        }
        #expect(try await api.call(.administrator, .delete, own).status == 404)
        let made = try await api.call(.administrator, .put, own)
        #expect(made.error == "illegal_database_name")
        #expect(made["reason"]?.contains("guests, users and lists") == true)
        #expect(try await api.call(person, .get, own + "/secret").status == 200)
      }
      let all = try await api.call(.administrator, .get, "/couch/_all_dbs")
      #expect(Self.names(all) == ["plans_$()+-/1"])
    }
  }

  @Test func ofSeveralWhoMakeADatabaseOneHasMadeIt() async throws {
    try await AccountAPIFixture.open { api in
      let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
        for _ in 0..<16 {
          group.addTask { try await api.call(.administrator, .put, "/couch/once").status }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(statuses.sorted() == [201] + [Int](repeating: 412, count: 15))
    }
  }

  @Test func othersAreToldNothingOfNames() async throws {
    try await AccountAPIFixture.open { api in
      for person in [AccountAPIFixture.Person.guest, .stranger, .member, .databaseAdministrator] {
        for method in [HTTPRequest.Method.put, .delete] {
          let there = try await api.call(person, method, AccountAPIFixture.path)
          let absent = try await api.call(person, method, AccountAPIFixture.absent)
          #expect(there.status == 403)
          #expect(there.bytes == absent.bytes)
        }
      }
    }
  }

  @Test func databasesInfoAnswersEachKey() async throws {
    try await AccountAPIFixture.open { api in
      try await api.call(.administrator, .put, AccountAPIFixture.path + "/a", body: "{}")
      let me = try await api.call(.guest, .get, "/v1/me")
      let own = try #require(me["store"])
      let reply = try await api.call(
        .administrator, .post, "/couch/_dbs_info",
        body: #"{"keys":["plans_$()+-/1","none","\#(own)","Upper"]}"#)
      let rows = try #require(reply.json.array)
      #expect(rows.first?["info"]?["doc_count"] == 1)
      #expect(rows.dropFirst().map { $0["error"] } == ["not_found", "not_found", "not_found"])
      for body in ["{}", #"{"keys":1}"#, #"{"keys":[1]}"#, "[]", "x"] {
        let wrong = try await api.call(.administrator, .post, "/couch/_dbs_info", body: body)
        #expect(wrong.status == 400)
        #expect(wrong.error == "bad_request")
      }
      for (count, status) in [(100, 200), (101, 400)] {
        let keys = (0..<count).map { "\"a\($0)\"" }.joined(separator: ",")
        let many = try await api.call(
          .administrator, .post, "/couch/_dbs_info", body: "{\"keys\":[\(keys)]}")
        #expect(many.status == status)
      }
    }
  }

  /// CVE-2017-12636 and others: requests that changed a server's configuration over HTTP ran commands.
  @Test(arguments: [
    "_config", "_config/query_servers/cmd", "_node/_local/_config", "_node/_local/_restart",
    "_node/nonode@nohost/_config/query_servers/cmd", "_cluster_setup", "_utils", "_membership",
    "_scheduler", "_users", "_users/org.couchdb.user:ada",
    "_global_changes", "_stats", "_log", "_restart", "_reshard", "_users/_all_docs",
  ])
  func nothingChangesTheSetUpOverHTTP(path: String) async throws {
    try await AccountAPIFixture.open { api in
      for method in [HTTPRequest.Method.get, .put, .post, .delete] {
        let reply = try await api.call(
          .administrator, method, "/couch/" + path, body: method == .get ? nil : #""sh""#)
        let makesNone = method == .put && reply.error == "illegal_database_name"
        #expect([404, 405].contains(reply.status) || makesNone, "\(method) \(reply.text)")
      }
    }
  }

  @Test(arguments: [
    (HTTPRequest.Method.get, "_node/_local", "_node"), (.get, "_node/_local/_config", "_node"),
    (.head, "_utils", "_utils"), (.get, "_utils", "_utils"), (.get, "_users", "_users"),
    (.get, "_users/_all_docs", "_users"), (.get, "_db_updates", "_db_updates"),
    (.get, "plans_$()+-%2F1/_shards", "_shards"), (.get, "plans_$()+-%2F1/_shards/a", "_shards"),
    (.post, "plans_$()+-%2F1/_sync_shards", "_sync_shards"),
    (.post, "plans_$()+-%2F1/_temp_view", "_temp_view"),
    (.post, "plans_$()+-%2F1/_design/d/_search/s", "_search"),
    (.post, "plans_$()+-%2F1/_design/d/_rewrite/a", "_rewrite"),
  ])
  func operationThatIsAbsentIsNamed(
    method: HTTPRequest.Method, path: String, name: String
  ) async throws {
    try await AccountAPIFixture.open { api in
      let reply = try await api.call(
        .administrator, method, "/couch/" + path, body: method == .post ? "{}" : nil)
      #expect(reply.status == 404)
      guard method != .head else { return }
      #expect(reply.error == "not_found")
      #expect(reply["reason"] == "CouchDB's \(name) is not offered here")
    }
  }

  /// No route answers these paths, and no other method is the reason.
  @Test(arguments: [("_design", 400), ("_local", 400), ("_local/a/b", 400), ("_changes/a", 404)])
  func headHasTheStatusOfGet(path: String, status: Int) async throws {
    try await AccountAPIFixture.open { api in
      for method in [HTTPRequest.Method.get, .head] {
        let reply = try await api.call(.administrator, method, AccountAPIFixture.path + "/" + path)
        #expect(reply.status == status, "\(method) \(path)")
      }
    }
  }

  /// A feed on a database ends when the database is deleted. A new database with the same name does not continue it.
  @Test func feedEndsWithTheDatabase() async throws {
    try await AccountAPIFixture.open { api in
      let feed = await api.api.openFeed(
        AccountAPIFixture.path + "/_changes?feed=longpoll&heartbeat=60000&since=now",
        token: try api.token(.member))
      #expect(try await api.call(.administrator, .delete, AccountAPIFixture.path).status == 200)
      // With a heartbeat, a feed has no other end.
      #expect(try await feed.value.ids == [])
      #expect(try await api.call(.administrator, .put, AccountAPIFixture.path).status == 201)
      #expect(try await api.call(.member, .get, AccountAPIFixture.path).status == 404)
    }
  }
}
