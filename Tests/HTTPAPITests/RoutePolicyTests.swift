import HTTPTypes
import Testing

@testable import HTTPAPI

/// What the routes declare. A change of a policy has to be repeated here.
@Suite struct RoutePolicyTests {
  /// The routes for which something holds, as `GET /v1/me`.
  private func routes(where holds: (Route) -> Bool) async throws -> Set<String> {
    Set(
      try await APIFixture.service().routes.filter(holds)
        .map { "\($0.method.rawValue) \($0.template)" })
  }

  /// Where there is no route, the path decides. It must give the dialect of the routes below it.
  @Test func dialectOfARouteIsThatOfItsPath() async throws {
    let others = try await routes { $0.dialect != Problem.Dialect(path: $0.template) }
    #expect(others == [])
  }

  @Test func writesOfSeveralStepsAreCompletedWithoutTheirClient() async throws {
    let list = "/v1/lists/{listID}"
    let always = try await routes { $0.completion == .always }
    #expect(
      always == [
        "POST /v1/users", "POST /v1/sessions", "DELETE /v1/sessions", "POST /v1/password-resets",
        "PATCH /v1/me", "DELETE /v1/me", "PUT /v1/me/password", "DELETE /v1/me/adoptions/{id}",
        "POST /v1/lists", "PATCH \(list)", "DELETE \(list)", "PUT \(list)/members/{username}",
        "DELETE \(list)/members/{username}", "POST \(list)/invitations",
        "DELETE \(list)/invitations/{invitationID}", "POST /v1/invitations/{token}/accept",
        "POST \(list)/links", "DELETE \(list)/links/{linkID}",
        "POST /v1/invitations/{invitationID}/decline", "POST /v1/invitations/{invitationID}/block",
        "POST \(list)/bookmarks/{hotelID}/publish", "POST \(list)/notes/{title}/publish",
        "POST /v1/admin/users", "DELETE /v1/admin/users/{user}",
        "PUT /v1/admin/users/{user}/password", "DELETE /v1/admin/users/{user}/sessions",
        "DELETE /v1/admin/backups/{backup}", "POST /v1/admin/users/{user}/password-resets",
      ])
  }

  /// What names a path or another server, and what lets the administrator act as a user without a trace.
  @Test func onlyTheControlSocketIsTrustedWithPathsPlacesAndPasswords() async throws {
    let trusted = try await routes { $0.access == .controlSocket }
    let user = "/v1/admin/users/{user}"
    #expect(
      trusted == [
        "POST /v1/admin/replacements", "POST /v1/admin/moves", "PUT \(user)/password",
      ])
  }

  @Test func onlyWhatEndsCredentialsIsNotCheckedAgain() async throws {
    let ending = try await routes { $0.changes == .credentials }
    #expect(ending == ["DELETE /v1/me", "DELETE /v1/sessions", "PUT /v1/me/password"])
    let writes = try await routes { route in
      route.changes == .nothing && ![.get, .head].contains(route.method)
        && [.person, .signedIn].contains(route.access)
    }
    #expect(writes == [])
  }

  /// What is answered out of turn must take no work that a client sizes.
  @Test func onlyOpenAnswersThatNoClientSizesAreFree() async throws {
    let free = try await routes { $0.cost == .free && $0.access != .open }
    #expect(free == [])
    let paid = try await routes { $0.cost == .callers && $0.access == .open && $0.method == .get }
    #expect(
      paid == [
        "GET /api/hotel/{description}", "GET /api/hotel/{description}/{location}",
        "GET /api/hotels/{description}", "GET /api/hotels/{description}/{location}",
        "GET /v1/links/{secret}",
      ])
  }

  @Test func answerThatNoCacheMayKeepSaysSo() async throws {
    let uncached = try await routes {
      $0.answer.isUncached && ![.administrator, .controlSocket].contains($0.access)
    }
    #expect(
      uncached == [
        "POST /v1/guests", "POST /v1/users", "POST /v1/sessions", "GET /v1/me", "GET /v1/me/export",
        "PUT /v1/me/password", "GET /v1/receipts/{id}", "GET /v1/sync/devices",
        "GET /v1/sync", "PUT /v1/sync", "DELETE /v1/sync", "POST /v1/sync/now",
        "GET /v1/sync/items", "GET /v1/sync/explain", "GET /v1/lists/{listID}/invitations",
        "POST /v1/lists/{listID}/invitations", "GET /v1/invitations", "GET /v1/blocked",
        "GET /v1/lists/{listID}/links", "POST /v1/lists/{listID}/links", "GET /v1/links/{secret}",
        "GET /couch/_session", "POST /couch/_session", "DELETE /couch/_session",
        "GET /couch/{db}/_session", "POST /couch/{db}/_session", "DELETE /couch/{db}/_session",
        "POST /api/user/signup", "POST /api/user/login",
        "POST /api/tenants/{tenant}/user/signup",
        "POST /api/tenants/{tenant}/user/login",
      ])
    let cached = try await routes {
      [.administrator, .controlSocket].contains($0.access) && $0.answer != .uncached
    }
    #expect(cached == [])
    try await APIFixture.open { api in
      let guest = try await api.call(.post, "/v1/guests")
      let token = try #require(guest["token"])
      #expect(guest.headers[.cacheControl] == "private, no-store")
      for path in ["/v1/me", "/v1/me/export", "/v1/invitations", "/couch/_session"] {
        let reply = try await api.call(.get, path, token: token)
        #expect(reply.headers[.cacheControl] == "private, no-store", "\(path)")
      }
      let bookmarks = try await api.call(.get, "/v1/bookmarks", token: token)
      #expect(bookmarks.headers[.cacheControl] == "private, no-cache")
    }
  }
}
