import Documents
import HTTPTypes
import StoreTesting
import Stores
import Testing

@testable import HTTPAPI

/// `_security` of a database that the administrator made, and the administrator outside of `/couch`.
@Suite(.timeLimit(.minutes(60))) struct CouchSecurityTests {
  @Test(arguments: [
    ("{}", 200), (#"{"admins":{},"members":{}}"#, 200),
    (#"{"admins":{"names":["a"],"roles":["b"]},"members":{"names":[],"roles":[]}}"#, 200),
    (#"{"extra":[1.0,{"kept":true}],"members":{"names":["a"],"more":1}}"#, 200),
    ("[]", 400), ("null", 400), ("\"x\"", 400), ("", 400), ("{", 400),
    (#"{"admins":[]}"#, 400), (#"{"admins":null}"#, 400), (#"{"members":"ada"}"#, 400),
    (#"{"members":{"names":"ada"}}"#, 400), (#"{"members":{"names":null}}"#, 400),
    (#"{"members":{"names":[1]}}"#, 400), (#"{"members":{"names":["a",{}]}}"#, 400),
    (#"{"admins":{"roles":{}}}"#, 400), (#"{"admins":{"roles":[["_admin"]]}}"#, 400),
    (#"{"admins":{"names":["a"]},"admins":{"names":["b"]}}"#, 400),
    (#"{"admins":{"names":["a"],"names":["b"]}}"#, 400),
  ])
  func shapeIsCouchDBs(body: String, status: Int) async throws {
    try await AccountAPIFixture.open { api in
      let put = try await api.secure(body)
      #expect(put.status == status, "\(put.text)")
      let stored = try await api.call(.administrator, .get, AccountAPIFixture.path + "/_security")
      #expect(stored.text == (status == 200 ? body : AccountAPIFixture.security))
    }
  }

  @Test(arguments: [(500, 200), (501, 413)]) func listsHaveABound(
    count: Int, status: Int
  ) async throws {
    try await AccountAPIFixture.open { api in
      let names = (0..<count).map { "\"name\($0)\"" }.joined(separator: ",")
      for list in ["names", "roles"] {
        for group in ["admins", "members"] {
          let put = try await api.secure("{\"\(group)\":{\"\(list)\":[\(names)]}}")
          #expect(put.status == status)
        }
      }
    }
  }

  @Test func databaseBeginsWithCouchDBsStandard() async throws {
    try await AccountAPIFixture.open { api in
      try await api.call(.administrator, .put, "/couch/fresh")
      let security = try await api.call(.administrator, .get, "/couch/fresh/_security")
      #expect(
        security.text == #"{"members":{"roles":["_admin"]},"admins":{"roles":["_admin"]}}"#)
    }
  }

  /// The document is in no feed and no list, and it is no local document, so it is never replicated.
  @Test func securityIsNotReplicated() async throws {
    try await AccountAPIFixture.open { api in
      let path = AccountAPIFixture.path
      for way in [
        "/_changes", "/_all_docs", "/_local_docs", "/receipt%2Fsecurity", "/_local/security",
        "/_local%2F..%2Freceipt%2Fsecurity",
      ] {
        let reply = try await api.call(.administrator, .get, path + way)
        #expect(!reply.text.contains("chief") && !reply.text.contains("Chief"), "\(way)")
      }
      let info = try await api.call(.administrator, .get, path)
      #expect(info.json["doc_count"] == 0)
      #expect(info["update_seq"]?.hasPrefix("0-") == true)
    }
  }

  /// Names are compared as at sign-up. An invalid name gives nobody a right.
  @Test func namesAreComparedAsUsersNamesAre() async throws {
    try await AccountAPIFixture.open { api in
      let token = try await api.api.user("Ren\u{E9}")
      for (name, status) in [
        ("rene\u{301}", 200), ("REN\u{C9}", 200), ("rene", 404), ("ren\u{E9}\u{301}", 404),
        ("rené:", 404), ("*", 404), ("", 404),
      ] {
        try await api.secure(#"{"members":{"names":["\#(name)"]}}"#)
        let reply = try await api.api.call(.get, AccountAPIFixture.path, token: token)
        #expect(reply.status == status, "\(name)")
      }
    }
  }

  @Test func administratorHasNoStoreOfTheirOwn() async throws {
    try await AccountAPIFixture.open { api in
      for (method, path) in [
        (HTTPRequest.Method.get, "/v1/me"), (.delete, "/v1/me"), (.get, "/v1/bookmarks"),
        (.get, "/v1/bookmarks/hotel_1"), (.put, "/v1/bookmarks/hotel_1"),
        (.delete, "/v1/bookmarks/hotel_1"), (.post, "/v1/bookmarks"),
      ] {
        let reply = try await api.call(
          .administrator, method, path, body: method == .post ? #"{"add":[]}"# : nil)
        #expect(reply.status == 403, "\(method) \(path)")
        #expect(reply.error == "forbidden")
        #expect(reply["reason"]?.contains("no store") == true)
      }
      #expect(try await api.call(.administrator, .get, "/v1/hotels").status == 200)
      let names = try await api.api.engine.names(in: "user", after: nil, limit: 100)
      #expect(names.isEmpty)
    }
  }

  @Test func administratorLogsOut() async throws {
    try await AccountAPIFixture.open { api in
      let out = try await api.call(.administrator, .delete, "/v1/sessions")
      #expect(out.status == 204)
      #expect(try await api.call(.administrator, .get, "/couch/_all_dbs").status == 401)
      #expect(
        try await api.api.call(.get, "/couch/_all_dbs", headers: AccountAPIFixture.basic).status
          == 200)
    }
  }

  @Test func nobodySignsUpAsTheAdministrator() async throws {
    try await AccountAPIFixture.open { api in
      for name in ["admin", "Admin", "ADMIN"] {
        let reply = try await api.api.call(.post, "/v1/users", body: APIFixture.credentials(name))
        #expect(reply.status == 409)
      }
    }
  }

  /// CVE-2017-12635: roles in a request's body make nobody an administrator.
  @Test func rolesInABodyAreNothing() async throws {
    try await AccountAPIFixture.open { api in
      let body =
        #"{"username":"eve","password":"\#(APIFixture.password)","roles":["_admin"],"kind":"administrator"}"#
      let token = try #require(try await api.api.call(.post, "/v1/users", body: body)["token"])
      let session = try await api.api.call(.get, "/couch/_session", token: token)
      #expect(session.json["userCtx"] == ["name": "eve", "roles": []])
      try await api.secure(#"{"members":{"roles":["eve","user","_admin"]}}"#)
      #expect(try await api.api.call(.get, AccountAPIFixture.path, token: token).status == 404)
      #expect(try await api.api.call(.get, "/couch/_all_dbs", token: token).status == 403)
    }
  }
}
