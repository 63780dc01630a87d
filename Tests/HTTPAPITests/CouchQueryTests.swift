import Documents
import HTTPTypes
import Testing

@testable import HTTPAPI

/// Mango's routes. CouchQueryTests and CouchSyncTests test what the queries mean.
@Suite struct CouchQueryTests {
  /// A guest's own database with three hotels.
  private func database(_ api: APIFixture) async throws -> (token: String, path: String) {
    let token = try await api.guest()
    let name = try #require(try await api.call(.get, "/v1/me", token: token)["store"])
    let path = "/couch/" + name
    for (id, stars) in [("a", 1), ("b", 2), ("c", 3)] {
      let body = #"{"type":"hotel","stars":\#(stars)}"#
      try await api.call(.put, "\(path)/\(id)", token: token, body: body)
    }
    return (token, path)
  }

  private func ids(_ reply: Reply) -> [String] {
    reply.json["docs"]?.array?.compactMap { $0["_id"]?.string } ?? []
  }

  @Test func queryFindsDocumentsAndIsExplained() async throws {
    try await APIFixture.open { api in
      let (token, path) = try await database(api)
      let body = #"{"selector":{"stars":{"$gt":1}},"fields":["_id"]}"#
      let found = try await api.call(.post, path + "/_find", token: token, body: body)
      #expect(found.status == 200)
      #expect(ids(found) == ["b", "c"])
      let explained = try await api.call(.post, path + "/_explain", token: token, body: body)
      #expect(explained.status == 200)
      #expect(explained["dbname"] == String(path.dropFirst("/couch/".count)))
    }
  }

  @Test func indexIsMadeListedUsedAndDeleted() async throws {
    try await APIFixture.open { api in
      let (token, path) = try await database(api)
      let index = #"{"index":{"fields":["stars"]},"ddoc":"by","name":"stars"}"#
      for result in ["created", "exists"] {
        let made = try await api.call(.post, path + "/_index", token: token, body: index)
        #expect((made.status, made["result"]) == (200, result))
        #expect(made["id"] == "_design/by")
      }
      let listed = try await api.call(.get, path + "/_index", token: token)
      let names = listed.json["indexes"]?.array?.compactMap { $0["name"]?.string } ?? []
      #expect(names.contains("stars"))
      let found = try await api.call(
        .post, path + "/_find", token: token,
        body: #"{"selector":{"stars":{"$lt":3}},"sort":[{"stars":"desc"}],"use_index":"by"}"#)
      #expect(ids(found) == ["b", "a"])
      let delete = path + "/_index/by/json/stars"
      #expect(try await api.call(.delete, delete, token: token).text == #"{"ok":true}"#)
      #expect(try await api.call(.delete, delete, token: token).status == 404)
      #expect(try await api.call(.get, path + "/_design/by", token: token).status == 404)
    }
  }

  @Test(arguments: ["by", "_design/by", "_design%2Fby"])
  func designDocumentMayBeNamedInFull(name: String) async throws {
    try await APIFixture.open { api in
      let (token, path) = try await database(api)
      let index = #"{"index":{"fields":["stars"]},"ddoc":"by","name":"a b/c"}"#
      try await api.call(.post, path + "/_index", token: token, body: index)
      let deleted = try await api.call(
        .delete, "\(path)/_index/\(name)/json/a%20b%2Fc", token: token)
      #expect(deleted.status == 200)
    }
  }

  @Test func indexesAreDeletedByTheDozen() async throws {
    try await APIFixture.open { api in
      let (token, path) = try await database(api)
      let index = #"{"index":{"fields":["stars"]},"ddoc":"by","name":"stars"}"#
      try await api.call(.post, path + "/_index", token: token, body: index)
      let deleted = try await api.call(
        .post, path + "/_index/_bulk_delete", token: token,
        body: #"{"docids":["_design/by","none"]}"#)
      #expect(deleted.status == 200)
      #expect(deleted.json["success"]?.array?.count == 1)
      #expect(deleted.json["fail"]?.array?.first?["error"] == "not_found")
    }
  }

  @Test(arguments: [
    ("/_find", "{}"), ("/_find", #"{"selector":1}"#), ("/_find", "[]"),
    ("/_find", #"{"selector":{"a":{"$none":1}}}"#), ("/_explain", #"{"selector":[]}"#),
    ("/_find", #"{"selector":{},"limit":-1}"#), ("/_index", "{}"),
    ("/_index", #"{"index":{"fields":[]}}"#),
    ("/_index", #"{"index":{"fields":["a"]},"type":"text"}"#),
    ("/_index/_bulk_delete", #"{"docids":1}"#), ("/_all_docs/queries", "{}"),
  ])
  func malformedRequestIsRefused(route: String, body: String) async throws {
    try await APIFixture.open { api in
      let (token, path) = try await database(api)
      let reply = try await api.call(.post, path + route, token: token, body: body)
      #expect([400, 501].contains(reply.status), "\(reply.status) \(reply.text)")
    }
  }

  /// A read creates no store.
  @Test func absentStoreAnswersAsAnEmptyOne() async throws {
    try await APIFixture.open { api in
      let token = try await api.guest()
      let name = try #require(try await api.call(.get, "/v1/me", token: token)["store"])
      let path = "/couch/" + name
      let found = try await api.call(
        .post, path + "/_find", token: token, body: #"{"selector":{}}"#)
      #expect(found.status == 200)
      #expect(ids(found) == [])
      #expect(try await api.call(.get, path + "/_index", token: token).status == 200)
      let deleted = try await api.call(.delete, path + "/_index/a/json/b", token: token)
      #expect(deleted.status == 404)
      #expect(try await api.call(.put, path, token: token).status == 201)
    }
  }

  @Test func designDocumentsAndQueriesAreListed() async throws {
    try await APIFixture.open { api in
      let (token, path) = try await database(api)
      try await api.call(.put, path + "/_design/x", token: token, body: "{}")
      let listed = try await api.call(.get, path + "/_design_docs", token: token)
      #expect(listed.json["rows"]?.array?.map { $0["id"]?.string } == ["_design/x"])
      let posted = try await api.call(
        .post, path + "/_design_docs", token: token, body: #"{"keys":["_design/a","_design/x"]}"#)
      #expect(posted.json["rows"]?.array?.first?["error"] == "not_found")
      let queries = #"{"queries":[{"limit":1},{"keys":["b"]}]}"#
      let several = try await api.call(
        .post, path + "/_all_docs/queries", token: token, body: queries)
      #expect(several.json["results"]?.array?.count == 2)
      let designs = try await api.call(
        .post, path + "/_design_docs/queries", token: token, body: queries)
      #expect(designs.json["results"]?.array?.first?["total_rows"] == 1)
    }
  }

  @Test func localDocumentsAreListed() async throws {
    try await APIFixture.open { api in
      let (token, path) = try await database(api)
      try await api.call(.put, path + "/_local/x", token: token, body: #"{"at":1}"#)
      let listed = try await api.call(
        .get, path + "/_local_docs?include_docs=true", token: token)
      #expect(listed.json["rows"]?.array?.map { $0["id"]?.string } == ["_local/x"])
      let posted = try await api.call(
        .post, path + "/_local_docs", token: token, body: #"{"keys":["_local/x","_local/a"]}"#)
      #expect(posted.json["rows"]?.array?.last?["error"] == "not_found")
    }
  }
}
