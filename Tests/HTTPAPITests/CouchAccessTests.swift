import Documents
import HTTPTypes
import Testing

@testable import HTTPAPI

/// Who may do what with a database that the administrator made.
@Suite(.timeLimit(.minutes(60))) struct CouchAccessTests {
  /// An operation on a database, and its status for those who may use the database.
  struct Operation: Sendable, CustomTestStringConvertible {
    let method: HTTPRequest.Method
    let path: String
    var body: String?
    let member: Int
    let databaseAdministrator: Int
    let administrator: Int

    init(
      _ method: HTTPRequest.Method, _ path: String, _ body: String,
      _ member: Int, _ databaseAdministrator: Int, _ administrator: Int
    ) {
      (self.method, self.path, self.body) = (method, path, body)
      self.member = member
      self.databaseAdministrator = databaseAdministrator
      self.administrator = administrator
    }

    init(
      _ method: HTTPRequest.Method, _ path: String,
      _ member: Int, _ databaseAdministrator: Int, _ administrator: Int
    ) {
      self.init(method, path, "", member, databaseAdministrator, administrator)
      body = nil
    }

    var testDescription: String { "\(method.rawValue) {db}\(path)" }

    /// The operation's status for a person.
    func status(_ person: AccountAPIFixture.Person) -> Int {
      switch person {
      case .guest, .stranger: isOfTheServer ? 403 : 404
      case .member: member
      case .databaseAdministrator: databaseAdministrator
      case .administrator: administrator
      }
    }

    /// Whether the operation creates or deletes the database. Its refusal depends on the caller, not on the database.
    var isOfTheServer: Bool { [.put, .delete].contains(method) && !path.hasPrefix("/") }
  }

  /// `~` stands for the caller's name, so that no two callers write the same document.
  static let operations: [Operation] = [
    Operation(.get, "", 200, 200, 200), Operation(.head, "", 200, 200, 200),
    Operation(.get, "/", 200, 200, 200), Operation(.get, "/_all_docs", 200, 200, 200),
    Operation(.post, "/_all_docs", #"{"keys":["a"]}"#, 200, 200, 200),
    Operation(.get, "/_changes", 200, 200, 200), Operation(.post, "/_changes", "{}", 200, 200, 200),
    Operation(.get, "/_blipsync", 426, 426, 426),
    Operation(.get, "/none", 404, 404, 404), Operation(.put, "/~", "{}", 201, 201, 201),
    Operation(.put, "/none", "no JSON", 400, 400, 400), Operation(.post, "", "{}", 201, 201, 201),
    Operation(.delete, "/none?rev=1-a", 404, 404, 404),
    Operation(.post, "/_bulk_docs", #"{"docs":[{}]}"#, 201, 201, 201),
    Operation(.post, "/_bulk_get", #"{"docs":[{"id":"a"}]}"#, 200, 200, 200),
    Operation(.post, "/_revs_diff", #"{"a":["1-a"]}"#, 200, 200, 200),
    Operation(.post, "/_missing_revs", #"{"a":["1-a"]}"#, 200, 200, 200),
    Operation(.post, "/_ensure_full_commit", 201, 201, 201),
    Operation(.put, "/_local/~", "{}", 201, 201, 201), Operation(.get, "/_local/n", 404, 404, 404),
    Operation(.post, "/_find", #"{"selector":{}}"#, 200, 200, 200),
    Operation(.post, "/_explain", #"{"selector":{}}"#, 200, 200, 200),
    Operation(.get, "/_index", 200, 200, 200),
    Operation(.post, "/_index", #"{"index":{"fields":["~"]}}"#, 403, 200, 200),
    Operation(.put, "/_design/~", "{}", 403, 201, 201),
    Operation(.put, "/_design%2F~2", "{}", 403, 201, 201),
    Operation(.get, "/_design/none", 404, 404, 404),
    Operation(.get, "/_design/a/_view/b", 404, 404, 404),
    Operation(.get, "/_security", 200, 200, 200),
    Operation(.put, "/_security", AccountAPIFixture.security, 403, 403, 200),
    Operation(.put, "/_security", "no JSON", 403, 403, 400),
    Operation(.post, "/_purge", #"{"~":["1-a"]}"#, 403, 201, 201),
    Operation(.post, "/_purge", "no JSON", 403, 400, 400),
    Operation(.post, "/_compact", 403, 202, 202), Operation(.post, "/_compact/a", 403, 404, 404),
    Operation(.post, "/_view_cleanup", 403, 202, 202),
    Operation(.get, "/_revs_limit", 200, 200, 200),
    Operation(.put, "/_revs_limit", "5", 403, 200, 200),
    Operation(.get, "/_purged_infos_limit", 501, 501, 501),
    Operation(.put, "/_purged_infos_limit", "1", 501, 501, 501),
    Operation(.put, "", 403, 403, 412), Operation(.delete, "?rev=1-a", 403, 403, 400),
  ]

  @Test(arguments: operations) func rightsAreThoseOfTheSecurityDocument(
    operation: Operation
  ) async throws {
    try await AccountAPIFixture.open { api in
      for person in AccountAPIFixture.Person.allCases {
        let path = operation.path.replacing("~", with: person.rawValue)
        let reply = try await api.call(
          person, operation.method, AccountAPIFixture.path + path,
          body: operation.body?.replacing("~", with: person.rawValue))
        #expect(reply.status == operation.status(person), "\(person): \(reply.text)")
        if reply.status == 403 { #expect(reply.error == "forbidden") }
      }
      let nobody = try await api.api.call(
        operation.method, AccountAPIFixture.path + operation.path, body: operation.body)
      #expect(nobody.status == 401)
    }
  }

  /// S05: a database that a person may not use is answered exactly like an absent one, byte for byte.
  @Test(.bug(id: "S05"), arguments: operations) func foreignDatabaseIsAnsweredAsAnAbsentOne(
    operation: Operation
  ) async throws {
    try await AccountAPIFixture.open { api in
      let own = try #require(
        try await api.call(.member, .get, "/v1/me")["couch"]?.split(separator: "/").last)
      for person in [AccountAPIFixture.Person.guest, .stranger] {
        let absent = try await api.call(
          person, operation.method, AccountAPIFixture.absent + operation.path, body: operation.body)
        for path in [AccountAPIFixture.path, "/couch/" + own] {
          let foreign = try await api.call(
            person, operation.method, path + operation.path, body: operation.body)
          #expect(foreign.status == absent.status)
          #expect(foreign.bytes == absent.bytes)
          #expect(Self.fields(foreign) == Self.fields(absent))
        }
      }
    }
  }

  private static func fields(_ reply: Reply) -> HTTPFields {
    var fields = reply.headers
    fields[.xRequestID] = nil
    fields[.couchRequestID] = nil
    return fields
  }

  /// J14: no request lets a member write a design document.
  @Test(.bug(id: "J14")) func membersWriteNoDesignDocumentsByAnyWay() async throws {
    try await AccountAPIFixture.open { api in
      let path = AccountAPIFixture.path
      let put = try await api.call(.administrator, .put, path + "/_design/app", body: "{}")
      let rev = try #require(put["rev"])
      try await api.call(.member, .put, path + "/plain", body: "{}")
      for (method, target) in [
        (HTTPRequest.Method.put, "/_design/app?rev=" + rev), (.put, "/_design/mine"),
        (.put, "/_design/app?new_edits=false"), (.delete, "/_design/app?rev=" + rev),
      ] {
        let reply = try await api.call(
          .member, method, path + target,
          body: method == .put ? #"{"_rev":"\#(target.contains("mine") ? "1-a" : rev)"}"# : nil)
        #expect(reply.status == 403, "\(method) \(target) \(reply.text)")
      }
      let destination = HTTPFields([HTTPField(name: .destination, value: "_design/copied")])
      let copied = try await api.call(.member, .copy, path + "/plain", headers: destination)
      #expect(copied.status == 403)
      let posted = try await api.call(.member, .post, path, body: #"{"_id":"_design/posted"}"#)
      #expect(posted.status == 403)
      for rest in ["", #","new_edits":false"#] {
        let bulk = try await api.call(
          .member, .post, path + "/_bulk_docs",
          body: #"{"docs":[{"_id":"_design/b","_rev":"1-a"},{"_id":"ok\#(rest.utf8.count)"#
            + #"","_rev":"1-a"}]\#(rest)}"#)
        #expect(bulk.status == 201)
        #expect(bulk.json.array?.first?["error"] == "forbidden", "\(bulk.text)")
      }
      let left = try await api.call(.member, .get, path + "/_all_docs").json["rows"]?.array
      let designs = left?.compactMap { $0["id"]?.string }.filter { $0.hasPrefix("_design") }
      #expect(designs == ["_design/app"])
    }
  }

  @Test func ownStoreIsNotPurgedNorSecuredByItsOwner() async throws {
    try await AccountAPIFixture.open { api in
      for person in [AccountAPIFixture.Person.guest, .stranger] {
        let me = try await api.call(person, .get, "/v1/me")
        let own = "/couch/" + (try #require(me["store"]))
        #expect(try await api.call(person, .post, own + "/_purge", body: "{}").status == 403)
        #expect(
          try await api.call(person, .put, own + "/_security", body: "{}").status == 403)
        #expect(
          try await api.call(person, .get, own + "/_security").text
            == #"{"members":{"roles":["_admin"]},"admins":{"roles":["_admin"]}}"#)
        #expect(try await api.call(person, .post, own + "/_compact").status == 202)
        #expect(
          try await api.call(person, .put, own + "/_design/mine", body: "{}").status == 201)
        #expect(try await api.call(person, .put, own).error == "file_exists")
        let dropped = try await api.call(person, .delete, own)
        #expect(dropped.status == 403)
        #expect(dropped["reason"]?.contains("DELETE /v1/me") == true)
        #expect(try await api.call(person, .post, own + "/_compact").status == 202)
      }
    }
  }

  @Test(arguments: ["{}", #"{"members":{}}"#, #"{"members":{"names":[],"roles":["_admin"]}}"#])
  func noMembersMeansNobody(security: String) async throws {
    try await AccountAPIFixture.open { api in
      try await api.secure(security)
      for person in [AccountAPIFixture.Person.guest, .stranger, .member, .databaseAdministrator] {
        #expect(try await api.call(person, .get, AccountAPIFixture.path).status == 404)
      }
      #expect(try await api.call(.administrator, .get, AccountAPIFixture.path).status == 200)
    }
  }

  @Test func rightsAreTakenAtOnce() async throws {
    try await AccountAPIFixture.open { api in
      #expect(
        try await api.call(.databaseAdministrator, .get, AccountAPIFixture.path).status == 200)
      try await api.secure(#"{"members":{"names":["chief"]}}"#)
      #expect(try await api.call(.member, .get, AccountAPIFixture.path).status == 404)
      let design = try await api.call(
        .databaseAdministrator, .put, AccountAPIFixture.path + "/_design/a", body: "{}")
      #expect(design.status == 403)
      #expect(
        try await api.call(.databaseAdministrator, .put, AccountAPIFixture.path + "/a", body: "{}")
          .status
          == 201)
    }
  }

  /// The feed of a member who loses the permission to read ends, and shows no later change. With a heartbeat, it has no
  /// other end. The feed of another person continues.
  @Test(.bug(id: "Y05"), arguments: ["longpoll", "continuous", "eventsource"])
  func feedEndsWithThePermission(kind: String) async throws {
    try await AccountAPIFixture.open { api in
      let path = AccountAPIFixture.path + "/_changes?feed=\(kind)&heartbeat=60000"
      let isContinuous = kind == "continuous"
      let ended = await api.api.openFeed(
        path, token: try api.token(.member), hasLines: isContinuous)
      let kept = await api.api.openFeed(
        path + "&limit=1", token: try api.token(.databaseAdministrator), hasLines: isContinuous)
      try await api.secure(#"{"members":{"names":["chief"]}}"#)
      // This write comes before the feed has ended and wakes it.
      try await api.call(.administrator, .put, AccountAPIFixture.path + "/news", body: "{}")
      #expect(try await ended.value.text.contains("news") == false)
      #expect(try await kept.value.text.contains("news"))
    }
  }
}
