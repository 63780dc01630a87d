import Accounts
import Documents
import HTTPTypes
import StoreTesting
import Stores
import TestSupport
import Testing

@testable import HTTPAPI

@Suite struct AccountRouteTests {
  @Test func meSaysWhoAndHowFull() async throws {
    try await APIFixture.open(publicURL: "https://hotels.example") { api in
      let token = try await api.guest()
      let empty = try await api.call(.get, "/v1/me", token: token)
      let id = try #require(empty["id"])
      #expect(empty["kind"] == "guest")
      #expect(empty["store"] == "guest-" + id)
      #expect(empty["couch"] == "https://hotels.example/couch/guest-" + id)
      #expect(empty.json["usage"] == ["documents": 0, "bytes": 0])
      #expect(empty.json["quota"] == ["documents": 201, "bytes": 1_048_576])
      #expect(empty["username"] == nil)
      try await api.bookmark("a", token)
      let used = try await api.call(.get, "/v1/me", token: token)
      #expect(used.json["usage"]?["documents"]?.int == 2, "the hotel and the list")
      let user = try await api.call(.get, "/v1/me", token: try await api.user("anna"))
      #expect(user["kind"] == "user" && user["username"] == "anna")
      #expect(user["store"]?.hasPrefix("user-") == true)
    }
  }

  @Test func answersWithATokenAreKeptByNobody() async throws {
    try await APIFixture.open { api in
      let replies = [
        try await api.call(.post, "/v1/guests"), try await api.signUp("anna"),
        try await api.call(.post, "/v1/sessions", body: APIFixture.credentials("anna")),
      ]
      #expect(replies.map(\.status) == [201, 201, 200])
      for reply in replies { #expect(reply.headers[.cacheControl] == "private, no-store") }
    }
  }

  @Test func signingUpTakesTheGuestAlong() async throws {
    try await APIFixture.open { api in
      let guest = try await api.guest()
      try await api.bookmark("a", guest)
      let session = try await api.signUp("anna", guest: guest)
      #expect(session.status == 201)
      let list = try await api.call(.get, "/v1/bookmarks", token: session["token"])
      #expect(list.ids == ["a"])
      for path in ["/v1/bookmarks", "/v1/me", "/v1/hotels"] {
        let spent = try await api.call(.get, path, token: guest)
        #expect(spent.status == 410)
        #expect(spent.error == "guest_spent")
      }
      #expect(try await api.signUp("bert", guest: guest).status == 410)
    }
  }

  @Test func loggingInTakesTheGuestAlongOnce() async throws {
    try await APIFixture.open { api in
      let user = try await api.user("anna")
      try await api.bookmark("mine", user)
      let guest = try await api.guest()
      try await api.bookmark("theirs", guest)
      let body = #"""
        {"username":"anna","password":"\#(APIFixture.password)","guestToken":"\#(guest)"}
        """#
      for _ in 0..<2 {
        let session = try await api.call(.post, "/v1/sessions", body: body)
        #expect(session.status == 200)
        let list = try await api.call(.get, "/v1/bookmarks", token: session["token"])
        #expect(list.ids == ["theirs", "mine"])
      }
      _ = try await api.signUp("bert")
      let other = try await api.call(
        .post, "/v1/sessions", body: body.replacing("anna", with: "bert"))
      #expect(other.status == 410)
    }
  }

  /// Regression: they were neither the guest's nor the user's any more, and nothing said why.
  @Test(arguments: [
    (ServiceError.Code.quotaExceeded, "quota_exceeded"), (.storageFull, "insufficient_storage"),
  ])
  func logInSaysWhyTheGuestsBookmarksWait(code: ServiceError.Code, error: String) async throws {
    try await APIFixture.open { api in
      let user = try await api.user("anna")
      try await api.bookmark("mine", user)
      let id = try #require(try await api.call(.get, "/v1/me", token: user)["id"])
      let store = StoreName.user(try #require(AccountID(id)))
      let guest = try await api.guest()
      try await api.bookmark("theirs", guest)
      api.engine.failWrites(to: store, with: ServiceError(code, "No room"))
      for token in [#","guestToken":"\#(guest)""#, ""] {
        let session = try await api.call(
          .post, "/v1/sessions",
          body: #"{"username":"anna","password":"\#(APIFixture.password)"\#(token)}"#)
        #expect(session.status == 200 && session.json["adoption"] == nil)
        #expect(session.json["waiting"] == ["error": .string(error), "reason": "No room"])
        let list = try await api.call(.get, "/v1/bookmarks", token: session["token"])
        #expect(list.ids == ["mine"])
      }
    }
  }

  /// Regression: its owner was kept out of lists and of everything else in a browser with a guest.
  @Test func logInToAnAccountWhoseStoreIsDamagedSucceeds() async throws {
    try await APIFixture.open { api in
      let id = try #require(try await api.signUp("anna")["id"])
      let guest = try await api.guest()
      try await api.bookmark("theirs", guest)
      api.engine.setDamaged(.user(try #require(AccountID(id))))
      let session = try await api.call(
        .post, "/v1/sessions",
        body: #"{"username":"anna","password":"\#(APIFixture.password)","guestToken":"\#(guest)"}"#)
      #expect(session.status == 200 && session["token"] != nil)
      #expect(
        session.json["waiting"]
          == ["error": "store_damaged", "reason": "The store is damaged"])
    }
  }

  @Test(
    .bug(id: "S10"),
    arguments: [
      ("[]", "bad_request"), ("{}", "bad_request"), (#"{"username":"anna"}"#, "bad_request"),
      (#"{"username":7,"password":"long enough"}"#, "bad_request"),
      (#"{"username":"a/b","password":"long enough"}"#, "invalid_username"),
      (#"{"username":"","password":"long enough"}"#, "invalid_username"),
      (#"{"username":"anna","password":"short"}"#, "invalid_password"), ("{", "invalid_json"),
      (#"{"username":"anna","password":""}"#, "invalid_password"),
      (#"{"username":"anna","password":"long\u0000enough"}"#, "invalid_password"),
      (#"{"username":"a","username":"b","password":"long enough"}"#, "duplicate_key"),
    ])
  func badCredentialsBodyIsRefused(body: String, error: String) async throws {
    try await APIFixture.open { api in
      let reply = try await api.call(.post, "/v1/users", body: body)
      #expect(reply.status == 400)
      #expect(reply.error == error)
    }
  }

  @Test func credentialsBodyIsSmallJSON() async throws {
    try await APIFixture.open { api in
      let long = APIFixture.credentials("anna", String(repeating: "x", count: 70_000))
      #expect(try await api.call(.post, "/v1/sessions", body: long).status == 413)
      let plain = try await api.call(
        .post, "/v1/sessions", body: APIFixture.credentials("anna"),
        headers: [.contentType: "text/plain"]
      )
      #expect(plain.status == 415)
    }
  }

  @Test func takenNameIsAConflict() async throws {
    try await APIFixture.open { api in
      #expect(try await api.signUp("Anna").status == 201)
      let taken = try await api.signUp("anna")
      #expect(taken.status == 409)
      #expect(taken.error == "conflict")
    }
  }

  @Test func wrongPasswordsLockOut() async throws {
    try await APIFixture.open { api in
      _ = try await api.signUp("anna")
      var replies: [Reply] = []
      for number in 0..<7 {
        let body = APIFixture.credentials("anna", "wrong password \(number)")
        replies.append(try await api.call(.post, "/v1/sessions", body: body))
      }
      #expect(replies.prefix(5).allSatisfy { $0.status == 401 })
      let last = try #require(replies.last)
      #expect(last.status == 429)
      #expect(last.headers[.retryAfter].flatMap { Int($0) }.map { $0 > 0 } == true)
      let unknown = try await api.call(
        .post, "/v1/sessions", body: APIFixture.credentials("nobody"))
      #expect(unknown.problem == replies.first?.problem, "a name that is nobody's says no more")
    }
  }

  /// Half of an hour's guests may be made at once.
  @Test func guestsAreLimitedByAddress() async throws {
    try await APIFixture.open(settings: { $0.guestsPerHour = 4 }) { api in
      var replies: [Reply] = []
      for _ in 0..<3 { replies.append(try await api.call(.post, "/v1/guests")) }
      #expect(replies.map(\.status) == [201, 201, 429])
      #expect(replies.last?.headers[.retryAfter] == "1800")
      api.clock.advance(seconds: 3_601)
      #expect(try await api.call(.post, "/v1/guests").status == 201)
    }
  }

  @Test func loggingOutEndsTheToken() async throws {
    try await APIFixture.open { api in
      let token = try await api.user("anna")
      let out = try await api.call(.delete, "/v1/sessions", token: token)
      #expect(out.status == 204)
      #expect(out.headers[.setCookie]?.contains("Max-Age=0") == true)
      #expect(try await api.call(.get, "/v1/me", token: token).status == 401)
      let again = try await api.call(.post, "/v1/sessions", body: APIFixture.credentials("anna"))
      #expect(again.status == 200)
    }
  }

  @Test func erasingEndsEverything() async throws {
    try await APIFixture.open { api in
      let (user, guest) = (try await api.user("anna"), try await api.guest())
      for (token, status) in [(user, 401), (guest, 410)] {
        try await api.bookmark("a", token)
        let erased = try await api.call(.delete, "/v1/me", token: token)
        #expect(erased.status == 204)
        #expect(erased.headers[.setCookie]?.contains("Max-Age=0") == true)
        #expect(try await api.call(.get, "/v1/me", token: token).status == status)
        #expect(try await api.call(.put, "/v1/bookmarks/a", token: token).status == status)
      }
      let login = try await api.call(.post, "/v1/sessions", body: APIFixture.credentials("anna"))
      #expect(login.status == 401)
      let again = try await api.user("anna")
      #expect(try await api.call(.get, "/v1/bookmarks", token: again).ids == [])
    }
  }
}

/// The undo of an adoption.
@Suite struct AdoptionRouteTests {
  @Test func whatCameFromAGuestGoesBackToTheGuest() async throws {
    try await APIFixture.open { api in
      let guest = try await api.guest()
      let id = try #require(try await api.call(.get, "/v1/me", token: guest)["id"])
      try await api.bookmark("theirs", guest)
      let token = try #require(try await api.signUp("ada", guest: guest)["token"])
      try await api.bookmark("mine", token)
      let listed = try await api.call(.get, "/v1/me/adoptions", token: token)
      let adoption = try #require(listed.json["adoptions"]?.array?.first)
      #expect(adoption["id"]?.string == id)
      #expect(adoption["bookmarks"]?.int == 1)
      for _ in 0..<2 {
        let undone = try await api.call(.delete, "/v1/me/adoptions/" + id, token: token)
        #expect(undone.status == 204)
      }
      #expect(try await api.call(.get, "/v1/bookmarks", token: token).ids == ["mine"])
      let after = try await api.call(.get, "/v1/me/adoptions", token: token)
      #expect(after.json["adoptions"]?.array?.isEmpty == true)
      #expect(try await api.call(.get, "/v1/bookmarks", token: guest).ids == ["theirs"])
      try await api.bookmark("more", guest)
    }
  }

  @Test func whoeverHasANameGetsNoDisplayName() async throws {
    try await APIFixture.open { api in
      let user = try await api.user("anna")
      for token in [user, try await api.guest()] {
        for body in [#"{"displayName":"Ann"}"#, #"{"displayName":null}"#] {
          let reply = try await api.call(.patch, "/v1/me", token: token, body: body)
          #expect(reply.status == 409 && reply["error"] == "conflict")
          #expect(reply["reason"]?.contains("Only users of another issuer") == true)
        }
      }
      for body in ["{}", "[]", #"{"displayName":7}"#, #"{"displayName":"Ann","username":"x"}"#] {
        let reply = try await api.call(.patch, "/v1/me", token: user, body: body)
        #expect(reply.status == 400 && reply["error"] == "bad_request", "\(body)")
      }
      let me = try await api.call(.get, "/v1/me", token: user)
      #expect(me["username"] == "anna" && me.json["displayName"] == nil)
    }
  }

  @Test func logInNamesTheHotelsInWhichTheGuestsWordsDiffer() async throws {
    try await APIFixture.open { api in
      let guest = try await api.guest()
      let id = try #require(try await api.call(.get, "/v1/me", token: guest)["id"])
      let token = try await api.user("ada")
      for (text, token) in [
        (#"{"guestNote":"quiet","n":1}"#, guest), (#"{"myNote":"m","n":2}"#, token),
      ] {
        let put = try await api.call(.put, "/v1/bookmarks/h", token: token, body: text)
        #expect(put.status == 201)
      }
      let body =
        #"{"username":"ada","password":"\#(APIFixture.password)","guestToken":"\#(guest)"}"#
      for _ in 0..<2 {
        let session = try await api.call(.post, "/v1/sessions", body: body)
        #expect(session.status == 200)
        let adoption = try #require(session.json["adoption"])
        #expect(adoption["id"]?.string == id && adoption["bookmarks"]?.int == 0)
        let hotel = try #require(adoption["differing"]?.array?.first)
        #expect(hotel["id"]?.string == "h")
        let revision = try #require(hotel["rev"]?.string)
        let earlier = try await api.call(
          .get, "/v1/documents/h/revisions/" + revision, token: token)
        #expect(earlier.text.contains(#""n":1"#))
      }
      let now = try await api.call(.get, "/v1/bookmarks/h", token: token)
      #expect(
        now.text.contains(#""n":2"#) && now.text.contains("quiet") && now.text.contains(#""m""#))
      let plain = try await api.call(
        .post, "/v1/sessions", body: #"{"username":"ada","password":"\#(APIFixture.password)"}"#)
      #expect(plain.json["adoption"] == nil)
    }
  }

  @Test func onlyTheUserCanUndoAndForADay() async throws {
    try await APIFixture.open { api in
      let guest = try await api.guest()
      let id = try #require(try await api.call(.get, "/v1/me", token: guest)["id"])
      try await api.bookmark("theirs", guest)
      let token = try #require(try await api.signUp("ada", guest: guest)["token"])
      let other = try await api.user("bob")
      for target in [id, "nobody", String(repeating: "0", count: 32)] {
        // A guest was told that its name has the wrong form.
        for token in [other, try await api.guest()] {
          let reply = try await api.call(.delete, "/v1/me/adoptions/" + target, token: token)
          #expect(reply.status == 404 && reply.error == "not_found")
        }
      }
      api.clock.advance(seconds: 86_400)
      let late = try await api.call(.delete, "/v1/me/adoptions/" + id, token: token)
      #expect(late.status == 410)
      #expect(late.error == "undo_over")
      #expect(try await api.call(.get, "/v1/bookmarks", token: token).ids == ["theirs"])
    }
  }
}
