import Accounts
import Documents
import HTTPTypes
import Testing

@testable import HTTPAPI

@Suite struct AccountRouteTests {
  @Test func meSaysWhoAndHowFull() async throws {
    try await Desk.open(publicURL: "https://hotels.example") { desk in
      let token = try await desk.guest()
      let empty = try await desk.call(.get, "/v1/me", token: token)
      let id = try #require(empty["id"])
      #expect(empty["kind"] == "guest")
      #expect(empty["store"] == "guest-" + id)
      #expect(empty["couch"] == "https://hotels.example/couch/guest-" + id)
      #expect(empty.json["usage"] == ["documents": 0, "bytes": 0])
      #expect(empty.json["quota"] == ["documents": 201, "bytes": 1_048_576])
      #expect(empty["username"] == nil)
      try await desk.bookmark("a", token)
      let used = try await desk.call(.get, "/v1/me", token: token)
      #expect(used.json["usage"]?["documents"]?.int == 2, "the hotel and the list")
      let user = try await desk.call(.get, "/v1/me", token: try await desk.user("anna"))
      #expect(user["kind"] == "user" && user["username"] == "anna")
      #expect(user["store"]?.hasPrefix("user-") == true)
    }
  }

  @Test func answersWithATokenAreKeptByNobody() async throws {
    try await Desk.open { desk in
      let replies = [
        try await desk.call(.post, "/v1/guests"), try await desk.signUp("anna"),
        try await desk.call(.post, "/v1/sessions", body: Desk.credentials("anna")),
      ]
      #expect(replies.map(\.status) == [201, 201, 200])
      for reply in replies { #expect(reply.headers[.cacheControl] == "no-store") }
    }
  }

  @Test func signingUpTakesTheGuestAlong() async throws {
    try await Desk.open { desk in
      let guest = try await desk.guest()
      try await desk.bookmark("a", guest)
      let session = try await desk.signUp("anna", guest: guest)
      #expect(session.status == 201)
      let list = try await desk.call(.get, "/v1/bookmarks", token: session["token"])
      #expect(list.ids == ["a"])
      for path in ["/v1/bookmarks", "/v1/me", "/v1/hotels"] {
        let spent = try await desk.call(.get, path, token: guest)
        #expect(spent.status == 410)
        #expect(spent.error == "guest_spent")
      }
      #expect(try await desk.signUp("bert", guest: guest).status == 410)
    }
  }

  @Test func loggingInTakesTheGuestAlongOnce() async throws {
    try await Desk.open { desk in
      let user = try await desk.user("anna")
      try await desk.bookmark("mine", user)
      let guest = try await desk.guest()
      try await desk.bookmark("theirs", guest)
      let body = #"""
        {"username":"anna","password":"\#(Desk.password)","guestToken":"\#(guest)"}
        """#
      for _ in 0..<2 {
        let session = try await desk.call(.post, "/v1/sessions", body: body)
        #expect(session.status == 200)
        let list = try await desk.call(.get, "/v1/bookmarks", token: session["token"])
        #expect(list.ids == ["theirs", "mine"])
      }
      _ = try await desk.signUp("bert")
      let other = try await desk.call(
        .post, "/v1/sessions", body: body.replacing("anna", with: "bert"))
      #expect(other.status == 410)
    }
  }

  @Test(arguments: [
    ("[]", "bad_request"), ("{}", "bad_request"), (#"{"username":"anna"}"#, "bad_request"),
    (#"{"username":7,"password":"long enough"}"#, "bad_request"),
    (#"{"username":"a/b","password":"long enough"}"#, "invalid_username"),
    (#"{"username":"","password":"long enough"}"#, "invalid_username"),
    (#"{"username":"anna","password":"short"}"#, "invalid_password"), ("{", "invalid_json"),
    (#"{"username":"anna","password":""}"#, "invalid_password"),
    (#"{"username":"anna","password":"long\u0000enough"}"#, "invalid_password"),
    (#"{"username":"a","username":"b","password":"long enough"}"#, "duplicate_key"),
  ])
  func s10BadCredentialsBodyIsRefused(body: String, error: String) async throws {
    try await Desk.open { desk in
      let reply = try await desk.call(.post, "/v1/users", body: body)
      #expect(reply.status == 400)
      #expect(reply.error == error)
    }
  }

  @Test func credentialsBodyIsSmallJSON() async throws {
    try await Desk.open { desk in
      let long = Desk.credentials("anna", String(repeating: "x", count: 70_000))
      #expect(try await desk.call(.post, "/v1/sessions", body: long).status == 413)
      let plain = try await desk.call(
        .post, "/v1/sessions", body: Desk.credentials("anna"), headers: [.contentType: "text/plain"]
      )
      #expect(plain.status == 415)
    }
  }

  @Test func takenNameIsAConflict() async throws {
    try await Desk.open { desk in
      #expect(try await desk.signUp("Anna").status == 201)
      let taken = try await desk.signUp("anna")
      #expect(taken.status == 409)
      #expect(taken.error == "conflict")
    }
  }

  @Test func wrongPasswordsLockOut() async throws {
    try await Desk.open { desk in
      _ = try await desk.signUp("anna")
      var replies: [Reply] = []
      for number in 0..<7 {
        let body = Desk.credentials("anna", "wrong password \(number)")
        replies.append(try await desk.call(.post, "/v1/sessions", body: body))
      }
      #expect(replies.prefix(5).allSatisfy { $0.status == 401 })
      let last = try #require(replies.last)
      #expect(last.status == 429)
      #expect(last.headers[.retryAfter].flatMap { Int($0) }.map { $0 > 0 } == true)
      let unknown = try await desk.call(.post, "/v1/sessions", body: Desk.credentials("nobody"))
      #expect(unknown.problem == replies.first?.problem, "a name that is nobody's says no more")
    }
  }

  /// Half of the hour's guests may come at once.
  @Test func guestsAreLimitedByAddress() async throws {
    try await Desk.open(settings: { $0.guestsPerHour = 4 }) { desk in
      var replies: [Reply] = []
      for _ in 0..<3 { replies.append(try await desk.call(.post, "/v1/guests")) }
      #expect(replies.map(\.status) == [201, 201, 429])
      #expect(replies.last?.headers[.retryAfter] == "1800")
      desk.clock.advance(seconds: 3_601)
      #expect(try await desk.call(.post, "/v1/guests").status == 201)
    }
  }

  @Test func loggingOutEndsTheToken() async throws {
    try await Desk.open { desk in
      let token = try await desk.user("anna")
      let out = try await desk.call(.delete, "/v1/sessions", token: token)
      #expect(out.status == 204)
      #expect(out.headers[.setCookie]?.contains("Max-Age=0") == true)
      #expect(try await desk.call(.get, "/v1/me", token: token).status == 401)
      let again = try await desk.call(.post, "/v1/sessions", body: Desk.credentials("anna"))
      #expect(again.status == 200)
    }
  }

  @Test func erasingEndsEverything() async throws {
    try await Desk.open { desk in
      let (user, guest) = (try await desk.user("anna"), try await desk.guest())
      for (token, status) in [(user, 401), (guest, 410)] {
        try await desk.bookmark("a", token)
        #expect(try await desk.call(.delete, "/v1/me", token: token).status == 204)
        #expect(try await desk.call(.get, "/v1/me", token: token).status == status)
        #expect(try await desk.call(.put, "/v1/bookmarks/a", token: token).status == status)
      }
      let login = try await desk.call(.post, "/v1/sessions", body: Desk.credentials("anna"))
      #expect(login.status == 401)
      let again = try await desk.user("anna")
      #expect(try await desk.call(.get, "/v1/bookmarks", token: again).ids == [])
    }
  }
}
