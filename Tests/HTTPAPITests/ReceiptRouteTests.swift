import Accounts
import Documents
import HTTPTypes
import Hotels
import StoreTesting
import Stores
import Synchronization
import TestSupport
import Testing

@testable import HTTPAPI

@Suite struct ReceiptRouteTests {
  private static let async: HTTPFields = [.prefer: "respond-async"]

  @Test func acceptedWriteIsCommittedWithItsRevisionsAndItsAnswer() async throws {
    try await APIFixture.open { api in
      let token = try await api.guest()
      let accepted = try await api.call(
        .put, "/v1/bookmarks/a", token: token, body: #"{"name":"A"}"#, headers: Self.async)
      #expect(accepted.status == 202)
      #expect(accepted.headers[.preferenceApplied] == "respond-async")
      let id = try #require(accepted["id"])
      #expect(accepted.headers[.location] == "/v1/receipts/" + id)
      let receipt = try await api.settled(accepted, token)
      #expect(receipt["status"] == "committed" && receipt["id"] == id)
      let answer = try #require(receipt.json["answer"])
      #expect(answer["status"]?.int == 201)
      let read = try await api.call(.get, "/v1/bookmarks/a", token: token)
      #expect(answer["headers"]?["ETag"]?.string == read.headers[.eTag])
      #expect(answer["headers"]?["Location"]?.string == "/v1/bookmarks/a")
      #expect(answer["body"] == read.json)
      #expect(
        receipt.json["changed"]?.array?.compactMap { $0["id"]?.string } == [
          "a", "bookmarkedhotels",
        ])
      #expect(receipt.json["changed"]?.array?.first?["rev"] == read.json["rev"])
    }
  }

  @Test func refusedWriteIsRejectedWithItsReason() async throws {
    try await APIFixture.open { api in
      let token = try await api.guest()
      for isStored in [false, true] {
        if isStored { try await api.bookmark("b", token) }
        let accepted = try await api.call(
          .put, "/v1/bookmarks/a", token: token, body: #"{"name":"A"}"#,
          headers: Self.async + [.ifMatch: "*"])
        let receipt = try await api.settled(accepted, token)
        #expect(receipt["status"] == "rejected")
        #expect(receipt.json["problem"]?["error"]?.string == "precondition_failed")
        #expect(receipt["reason"] == receipt.json["problem"]?["reason"]?.string)
      }
      #expect(try await api.call(.get, "/v1/bookmarks", token: token).ids == ["b"])
    }
  }

  @Test func writesOfOnePersonAreCarriedOutInTheirOrder() async throws {
    try await APIFixture.open { api in
      let token = try await api.guest()
      var last: Reply?
      for number in 0..<20 {
        let isPut = number % 2 == 0
        last = try await api.call(
          isPut ? .put : .delete, "/v1/bookmarks/a", token: token,
          body: isPut ? #"{"n":\#(number)}"# : nil, headers: Self.async)
        #expect(last?.status == 202)
      }
      let receipt = try await api.settled(try #require(last), token)
      #expect(receipt["status"] == "committed")
      #expect(receipt.json["answer"]?["status"]?.int == 204)
      #expect(receipt.json["changed"]?.array?.first?["rev"]?.string?.hasPrefix("20-") == true)
      #expect(try await api.call(.get, "/v1/bookmarks", token: token).ids == [])
    }
  }

  @Test func receiptOfAnotherIsAnsweredAsAnAbsentOne() async throws {
    try await APIFixture.open { api in
      let token = try await api.guest()
      let accepted = try await api.call(
        .put, "/v1/bookmarks/a", token: token, body: "{}", headers: Self.async)
      let path = try #require(accepted.headers[.location])
      _ = try await api.settled(accepted, token)
      let other = try await api.guest()
      let foreign = try await api.call(.get, path, token: other)
      let absent = try await api.call(
        .get, "/v1/receipts/" + String(repeating: "0", count: 60), token: other)
      #expect(foreign.status == 404 && foreign.problem == absent.problem)
      #expect(try await api.call(.get, "/v1/receipts/x", token: token).status == 404)
    }
  }

  @Test func lostWriteIsRejectedForADayAndForgottenThen() async throws {
    try await APIFixture.open { api in
      let token = try await api.guest()
      let me = try await api.call(.get, "/v1/me", token: token)
      let owner = try #require(me["id"].flatMap { AccountID($0) })
      // The receipt of a server that was killed before it carried out the write.
      let name = WriteReceipt.Name(owner: owner, token: String(repeating: "1", count: 32))
      let id = ReceiptID(of: name, list: nil, at: api.clock.now)
      let lost = try await api.call(.get, "/v1/receipts/" + id.text, token: token)
      #expect(lost["status"] == "rejected")
      #expect(lost["reason"] == "Not carried out: the server stopped. Send it again")
      api.clock.advance(seconds: 86_401)
      #expect(try await api.call(.get, "/v1/receipts/" + id.text, token: token).status == 404)
    }
  }

  @Test func passingFailureIsTriedThreeTimesMoreAndThenRejected() async throws {
    let pauses = Mutex<[Duration]>([])
    try await APIFixture.open(pause: { pause in pauses.withLock { $0.append(pause) } }) { api in
      let token = try await api.guest()
      api.search.fail(with: .unavailable)
      let accepted = try await api.call(.put, "/v1/bookmarks/a", token: token, headers: Self.async)
      let receipt = try await api.settled(accepted, token)
      #expect(receipt["status"] == "rejected")
      #expect(receipt.json["problem"]?["error"]?.string == "search_unavailable")
      #expect(pauses.withLock { $0 } == PendingWrites.pauses)
    }
  }

  @Test func personMayHaveSoManyWritesWaitingAndNoMore() async throws {
    let latch = Latch()
    try await APIFixture.open(pause: { _ in await latch.wait() }) { api in
      let token = try await api.guest()
      api.search.fail(with: .unavailable)
      var last: Reply?
      for _ in 0..<PendingWrites.perPrincipal {
        last = try await api.call(.put, "/v1/bookmarks/a", token: token, headers: Self.async)
        #expect(last?.status == 202)
      }
      let refused = try await api.call(.put, "/v1/bookmarks/a", token: token, headers: Self.async)
      #expect(refused.status == 429 && refused.error == "too_many_requests")
      let waiting = try await api.call(
        .get, try #require(last?.headers[.location]), token: token)
      #expect(waiting["status"] == "pending" && waiting.headers[.retryAfter] == "1")
      // Writes of another person, and requests that are not asynchronous, are not affected.
      let other = try await api.guest()
      let accepted = try await api.call(
        .put, "/v1/bookmarks/b", token: other, body: "{}", headers: Self.async)
      #expect(try await api.settled(accepted, other)["status"] == "committed")
      #expect(try await api.call(.get, "/v1/bookmarks", token: token).status == 200)
      latch.open()
      #expect(try await api.settled(try #require(last), token)["status"] == "rejected")
    }
  }

  /// After the sign-up they would be refused, and the account could not read why.
  @Test func signUpTakesTheGuestsAcceptedWritesAlong() async throws {
    let latch = Latch()
    try await APIFixture.open(pause: { _ in await latch.wait() }) { api in
      let token = try await api.guest()
      let me = try await api.call(.get, "/v1/me", token: token)
      let owner = try #require(me["id"].flatMap { AccountID($0) })
      api.search.fail(with: .unavailable)
      try await api.call(.put, "/v1/bookmarks/a", token: token, headers: Self.async)
      try await api.call(.put, "/v1/bookmarks/b", token: token, body: "{}", headers: Self.async)
      async let signUp = api.call(
        .post, "/v1/users", token: token, body: APIFixture.credentials("anna"))
      let end = ContinuousClock.now + .seconds(60)
      while api.pendingWrites.accepts(from: owner), ContinuousClock.now < end {
        try await Task.sleep(for: .milliseconds(1))
      }
      // Nothing is accepted any more before it is done, and what comes now does not overtake what was accepted.
      async let late = api.call(
        .put, "/v1/bookmarks/b", token: token, body: #"{"myNote":"last"}"#, headers: Self.async)
      while !api.pendingWrites.isFollowed(owner), ContinuousClock.now < end {
        try await Task.sleep(for: .milliseconds(1))
      }
      latch.open()
      #expect(try await late.status == 200)
      let session = try await signUp
      let user = try #require(session["token"])
      #expect(try await api.call(.get, "/v1/bookmarks", token: user).ids == ["b"])
      let kept = try await api.call(.get, "/v1/bookmarks/b", token: user)
      #expect(kept.json["hotel"]?["myNote"]?.string == "last")
      #expect(api.pendingWrites.accepts(from: owner))
    }
  }

  /// A browser's guest is taken over at CouchDB's address, too.
  @Test func logInAtCouchTakesTheGuestsAcceptedWritesAlong() async throws {
    let latch = Latch()
    try await APIFixture.open(pause: { _ in await latch.wait() }) { api in
      let user = try await api.user("anna")
      let token = try await api.guest()
      let me = try await api.call(.get, "/v1/me", token: token)
      let owner = try #require(me["id"].flatMap { AccountID($0) })
      api.search.fail(with: .unavailable)
      try await api.call(.put, "/v1/bookmarks/a", token: token, headers: Self.async)
      try await api.call(.put, "/v1/bookmarks/b", token: token, body: "{}", headers: Self.async)
      async let logIn = api.call(
        .post, "/couch/_session", body: #"{"name":"anna","password":"\#(APIFixture.password)"}"#,
        headers: [
          .origin: "http://localhost", .contentType: "application/json",
          .cookie: SentCredentials.cookieName + "=" + token,
        ])
      let end = ContinuousClock.now + .seconds(60)
      while api.pendingWrites.accepts(from: owner), ContinuousClock.now < end {
        try await Task.sleep(for: .milliseconds(1))
      }
      latch.open()
      #expect(try await logIn.status == 200)
      #expect(try await api.call(.get, "/v1/bookmarks", token: user).ids == ["b"])
    }
  }

  @Test func writeThatWaitedWhileTheAccountWasErasedMakesNoStore() async throws {
    let latch = Latch()
    try await APIFixture.open(pause: { _ in await latch.wait() }) { api in
      let token = try await api.guest()
      api.search.fail(with: .unavailable)
      try await api.call(.put, "/v1/bookmarks/a", token: token, headers: Self.async)
      try await api.call(.put, "/v1/bookmarks/b", token: token, body: "{}", headers: Self.async)
      #expect(try await api.call(.delete, "/v1/me", token: token).status == 204)
      api.search.fail(with: nil)
      latch.open()
      await api.pendingWrites.finish()
      #expect(try await api.engine.names(in: "guest", after: nil, limit: 1).isEmpty)
    }
  }

  @Test func erasureIsNeverAnsweredBeforeItIsDone() async throws {
    try await APIFixture.open { api in
      let token = try await api.guest()
      try await api.bookmark("a", token)
      let erased = try await api.call(.delete, "/v1/me", token: token, headers: Self.async)
      #expect(erased.status == 204 && erased.headers[.preferenceApplied] == nil)
    }
  }

  @Test(arguments: [
    ("respond-async", 202), ("return=minimal, Respond-Async; wait=10", 202), ("wait=10", 201),
    ("respond-asynchronously", 201), ("foo=respond-async", 201),
  ])
  func preferenceIsReadByItsName(prefer: String, status: Int) async throws {
    try await APIFixture.open { api in
      let token = try await api.guest()
      let reply = try await api.call(
        .put, "/v1/bookmarks/a", token: token, body: "{}", headers: [.prefer: prefer])
      #expect(reply.status == status)
      if status == 202 { _ = try await api.settled(reply, token) }
    }
  }

  @Test func serverThatStopsDoesWhatItHasAcceptedAndWaitsWithNewWrites() async throws {
    try await APIFixture.open { api in
      let token = try await api.guest()
      let accepted = try await api.call(
        .put, "/v1/bookmarks/a", token: token, body: "{}", headers: Self.async)
      await api.pendingWrites.finish()
      let receipt = try await api.call(
        .get, try #require(accepted.headers[.location]), token: token)
      #expect(receipt["status"] == "committed")
      let late = try await api.call(
        .put, "/v1/bookmarks/b", token: token, body: "{}", headers: Self.async)
      #expect(late.status == 201)
    }
  }
}

@Suite struct ReceiptIDTests {
  private let owner = AccountID(String(repeating: "a", count: 32))
  private let other = AccountID(String(repeating: "b", count: 32))

  @Test func receiptIsReadByWhomItWasGivenToAlone() throws {
    let (owner, other) = (try #require(owner), try #require(other))
    let name = WriteReceipt.Name(owner: owner, token: String(repeating: "0f", count: 16))
    for list in [nil, other] {
      let id = ReceiptID(of: name, list: list, at: Timestamp(milliseconds: 1_800_000_000_123))
      #expect(id.text.utf8.count == (list == nil ? 60 : 92))
      #expect(ReceiptID(id.text, of: owner) == id)
      #expect(ReceiptID(id.text, of: other) == nil)
      for index in id.text.indices {
        var text = id.text
        let digit = text.remove(at: index)
        text.insert(digit == "0" ? "1" : "0", at: index)
        #expect(ReceiptID(text, of: owner) == nil)
      }
    }
    for text in ["", "0", String(repeating: "z", count: 60), String(repeating: "é", count: 30)] {
      #expect(ReceiptID(text, of: owner) == nil)
    }
  }

  @Test func writeToAListIsLookedForThere() throws {
    let list = try #require(other)
    #expect(ReceiptID.stores(own: .user(list), list: nil) == [.user(list), .system])
    #expect(
      ReceiptID.stores(own: .user(list), list: list) == [.list(list), .user(list), .system])
  }
}

/// A latch that tasks wait at until a test opens it.
final class Latch: Sendable {
  private let isOpen = Mutex(false)

  /// Waits until the latch is open.
  func wait() async {
    while !isOpen.withLock({ $0 }) { try? await Task.sleep(for: .milliseconds(1)) }
  }

  /// Opens the latch. It stays open.
  func open() { isOpen.withLock { $0 = true } }
}

extension APIFixture {
  /// The receipt of an accepted write, as soon as it is not pending.
  func settled(_ accepted: Reply, _ token: String) async throws -> Reply {
    let path = try #require(accepted.headers[.location])
    while true {
      let receipt = try await call(.get, path, token: token)
      guard receipt["status"] == "pending" else { return receipt }
      try await Task.sleep(for: .milliseconds(1))
    }
  }
}
