import Accounts
import Documents
import HTTPTypes
import Testing

@testable import HTTPAPI

/// What the administrator's acts leave in the audit log, and what is allowed only because of that.
@Suite struct AuditRouteTests {
  private static let resets = "/v1/admin/users/member/password-resets"

  /// The newest entries, as their events and what they were about.
  private static func newest(_ count: Int, of api: AccountAPIFixture) async throws -> [String] {
    try await api.api.service.accounts.writeAudit()
    let reply = try await api.call(.administrator, .get, "/v1/admin/audit?newest=true")
    let entries = reply.json["entries"]?.array ?? []
    return entries.prefix(count).map { entry in
      [entry["event"]?.string, entry["about"]?.string].compactMap(\.self).joined(separator: " ")
    }
  }

  @Test func resetOverHTTPNeedsTheAuditLog() async throws {
    try await AccountAPIFixture.open { api in
      let refused = try await api.call(.administrator, .post, Self.resets)
      #expect(refused.status == 403 && refused.error == "forbidden")
      #expect(try await api.call(.member, .get, "/v1/me").status == 200)
    }
  }

  @Test func resetOverHTTPEndsTheSessionsAndIsRecorded() async throws {
    try await AccountAPIFixture.open(audit: .on) { api in
      let made = try await api.call(.administrator, .post, Self.resets)
      let token = try #require(made["token"])
      #expect(made.status == 201 && made["url"]?.hasSuffix("/reset#" + token) == true)
      #expect(try await api.call(.member, .get, "/v1/me").status == 401)
      #expect(try await Set(Self.newest(2, of: api)) == ["sessionsEnded", "resetMade"])
      // The token is no session's.
      #expect(try await api.api.call(.get, "/v1/me", token: token).status == 401)
      let old = APIFixture.credentials("member")
      #expect(try await api.api.call(.post, "/v1/sessions", body: old).status == 200)
      let chosen = #"{"token":"\#(token)","password":"another password"}"#
      #expect(try await api.api.call(.post, "/v1/password-resets", body: chosen).status == 204)
      #expect(try await api.api.call(.post, "/v1/password-resets", body: chosen).status == 401)
      let unknown = "/v1/admin/users/nobody/password-resets"
      #expect(try await api.call(.administrator, .post, unknown).status == 404)
    }
  }

  @Test func administratorsActsAreRecorded() async throws {
    try await AccountAPIFixture.open(audit: .on) { api in
      #expect(try await api.call(.administrator, .put, "/couch/flights").status == 201)
      let security = #"{"members":{"names":["member"]}}"#
      let secured = try await api.call(
        .administrator, .put, "/couch/flights/_security", body: security)
      #expect(secured.status == 200)
      #expect(try await api.call(.administrator, .delete, "/couch/flights").status == 200)
      let backup = try await api.call(.administrator, .post, "/v1/admin/backups")
      let job = try #require(backup.headers[.location])
      #expect(try await api.call(.administrator, .delete, job).status == 202)
      while try await api.call(.administrator, .get, job).json["state"] == "running" {
        await Task.yield()
      }
      for extra in ["", #","cancel":true,"id":"1+continuous""#] {
        let body = #"{"source":"a","target":"b","continuous":true\#(extra)}"#
        #expect(
          try await api.call(.administrator, .post, "/couch/_replicate", body: body).status < 300)
      }
      let old = "/v1/admin/backups/1970-01-01T000000.000Z"
      #expect(try await api.call(.administrator, .delete, old).status == 204)
      #expect(
        try await Set(Self.newest(8, of: api)) == [
          "databaseMade flights", "databaseAccessChanged flights", "databaseRemoved flights",
          "jobStarted backup", "jobCancelled backup", "jobStarted replication",
          "jobCancelled replication", "backupRemoved 1970-01-01T000000.000Z",
        ])
    }
  }

  @Test func wrongQuestionsAreRefused() async throws {
    try await AccountAPIFixture.open { api in
      for query in ["since=yesterday", "newest=1"] {
        let reply = try await api.call(.administrator, .get, "/v1/admin/audit?" + query)
        #expect(reply.error == "invalid_parameter", "\(query)")
      }
      let empty = try await api.call(.administrator, .get, "/v1/admin/audit")
      #expect(empty.json["entries"] == [] && empty["kept"] == "off")
    }
  }
}
