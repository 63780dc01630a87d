import Documents
import HTTPTypes
import Hotels
import Testing

@testable import HTTPAPI

@Suite struct ProblemTests {
  @Test func problemHasItsMembers() async throws {
    try await APIFixture.open { api in
      let reply = try await api.call(.get, "/v1/bookmarks")
      #expect(reply.status == 401)
      #expect(reply.mediaType == "application/problem+json")
      #expect(
        reply.json.object?.members.map(\.name) == [
          "type", "title", "status", "detail", "error", "reason", "requestId",
        ])
      #expect(reply["type"] == "urn:hotel-bookmarks:error:unauthorized")
      #expect(reply["title"] == "Unauthorized")
      #expect(reply.json["status"]?.int == 401)
      #expect(reply["detail"] == reply["reason"])
      #expect(reply["requestId"] == reply.headers[.xRequestID])
      #expect(reply["requestId"]?.isEmpty == false)
      #expect(reply.headers[.cacheControl] == "no-store")
      #expect(reply.headers[.xContentTypeOptions] == "nosniff")
      #expect(reply.headers[.wwwAuthenticate]?.contains("Bearer") == true)
    }
  }

  @Test func detailStaysInTheLog() async throws {
    try await APIFixture.open { api in
      api.search.fail(with: .badAnswer)
      let reply = try await api.call(.get, "/v1/hotels")
      #expect(reply.status == 502)
      #expect(!reply.text.contains("scripted detail"))
    }
  }

  @Test(arguments: [
    "/nothing", "/v1", "/v1/bookmarks/a/b", "/v2/bookmarks", "/v1//bookmarks", "//",
  ])
  func unknownPathIsNotFound(path: String) async throws {
    try await APIFixture.open { api in
      let reply = try await api.call(.get, path)
      #expect(reply.status == 404)
      #expect(reply.error == "not_found")
    }
  }

  @Test func anotherMethodIsToldWhichAreAllowed() async throws {
    try await APIFixture.open { api in
      let bookmarks = try await api.call(.patch, "/v1/bookmarks")
      #expect(bookmarks.status == 405)
      #expect(bookmarks.error == "method_not_allowed")
      #expect(bookmarks.headers[.allow] == "GET, HEAD, OPTIONS, POST")
      let guests = try await api.call(.get, "/v1/guests")
      #expect(guests.status == 405)
      #expect(guests.headers[.allow] == "OPTIONS, POST")
      let one = try await api.call(.post, "/v1/bookmarks/a%2Fb")
      #expect(one.headers[.allow] == "DELETE, GET, HEAD, OPTIONS, PUT")
    }
  }

  @Test func optionsSaysWhatIsAllowedWithoutABody() async throws {
    try await APIFixture.open { api in
      let reply = try await api.call(.options, "/v1/bookmarks")
      #expect(reply.status == 204)
      #expect(reply.headers[.allow] == "GET, HEAD, OPTIONS, POST")
      #expect(reply.headers[.contentType] == nil)
      #expect(reply.bytes.isEmpty)
    }
  }

  @Test func headIsGetWithoutABody() async throws {
    try await APIFixture.open { api in
      let token = try await api.guest()
      try await api.bookmark("a", token)
      for path in [
        "/", "/healthz", "/v1/limits", "/v1/bookmarks", "/v1/bookmarks/a", "/v1/hotels", "/v1/me",
      ] {
        let get = try await api.call(.get, path, token: token)
        let head = try await api.call(.head, path, token: token)
        #expect(get.status == 200 && head.status == 200, "\(path)")
        #expect(head.bytes.isEmpty, "\(path)")
        #expect(head.headers == get.headers, "\(path)")
        #expect(head.headers[.contentLength] == String(get.bytes.count), "\(path)")
      }
    }
  }

  /// A client would read a body after the answer to HEAD as the next answer on the connection.
  @Test(arguments: ["/nothing", "/v1/guests", "/v1//me", "/v1/bookmarks", "/v1/hotels/none"])
  func refusedHeadHasNoBody(path: String) async throws {
    try await APIFixture.open { api in
      let reply = try await api.call(.head, path)
      #expect(reply.status >= 400)
      #expect(reply.bytes.isEmpty)
      #expect(reply.headers[.contentLength].flatMap { Int($0) }.map { $0 > 0 } == true)
    }
  }

  @Test func anothersBookmarkIsAnsweredAsAnAbsentOne() async throws {
    try await APIFixture.open { api in
      let (anna, bert) = (try await api.user("anna"), try await api.user("bert"))
      try await api.bookmark("mine", anna)
      for method in [HTTPRequest.Method.get, .delete] {
        let theirs = try await api.call(method, "/v1/bookmarks/mine", token: bert)
        let absent = try await api.call(method, "/v1/bookmarks/none", token: bert)
        #expect(theirs.status == 404)
        #expect(theirs.problem == absent.problem)
        #expect(theirs.bytes.count == absent.bytes.count)
      }
      #expect(try await api.call(.get, "/v1/bookmarks", token: bert).ids == [])
      #expect(try await api.call(.get, "/v1/bookmarks/mine", token: anna).status == 200)
    }
  }
}
