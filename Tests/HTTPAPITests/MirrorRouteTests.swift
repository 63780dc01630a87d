import Documents
import HTTPTypes
import Hotels
import StoreTesting
import TestSupport
import Testing

@testable import HTTPAPI

/// The mirror, which a device updates by one request.
@Suite struct MirrorRouteTests {
  @Test(arguments: 0..<repetitions(3, nightly: 12))
  func copyEqualsTheStoreThroughRandomChanges(seed: UInt64) async throws {
    try await APIFixture.open { api in
      let token = try await api.user("copyist")
      let store = try #require(try await api.call(.get, "/v1/me", token: token)["store"])
      var generator = SeededGenerator(seed: seed)
      var copy = MirrorCopy()
      for step in 0..<120 {
        let hotel = "h\(Int.random(in: 0..<12, using: &generator))"
        switch Int.random(in: 0..<10, using: &generator) {
        case 0...4:
          try await api.call(
            .put, "/v1/bookmarks/" + hotel, token: token, body: #"{"step":\#(step)}"#)
        case 5...6:
          try await api.call(.delete, "/v1/bookmarks/" + hotel, token: token)
        case 7:
          // A sync client may delete a hotel's document without a change of the list.
          let found = try await api.call(.get, "/couch/\(store)/\(hotel)", token: token)
          if let revision = found["_rev"] {
            try await api.call(
              .delete, "/couch/\(store)/\(hotel)?rev=\(revision)", token: token)
          }
        default:
          try await copy.update(from: api, token)
          try await copy.check(against: api, token, "seed \(seed), step \(step)")
        }
      }
      try await copy.update(from: api, token)
      try await copy.check(against: api, token, "seed \(seed), end")
    }
  }

  @Test func guestWhoNeverWroteHasAnEmptyCopyThatGoesOn() async throws {
    try await APIFixture.open { api in
      let token = try await api.guest()
      let nothing = try await api.call(.get, "/v1/mirror", token: token)
      #expect(nothing.json["reset"]?.bool == true)
      #expect(nothing.json["order"]?.array == [])
      try await api.bookmark("h1", token)
      let since = try #require(nothing["token"])
      let page = try await api.call(.get, "/v1/mirror?since=" + since, token: token)
      #expect(page.json["hotels"]?.array?.count == 1)
    }
  }

  @Test func nothingNewIsNotModified() async throws {
    try await APIFixture.open { api in
      let token = try await api.guest()
      try await api.bookmark("h1", token)
      let page = try await api.call(.get, "/v1/mirror", token: token)
      let tag = try #require(page.headers[.eTag])
      let again = try await api.call(
        .get, "/v1/mirror?since=" + (page["token"] ?? ""), token: token,
        headers: [.ifNoneMatch: tag])
      #expect(again.status == 304)
      try await api.bookmark("h2", token)
      let more = try await api.call(
        .get, "/v1/mirror?since=" + (page["token"] ?? ""), token: token,
        headers: [.ifNoneMatch: tag])
      #expect(more.status == 200 && more.json["reset"]?.bool == false)
      #expect(more.json["hotels"]?.array?.count == 1)
    }
  }

  @Test(arguments: [
    "", "0", "1.0.0", "2.1.0." + String(repeating: "a", count: 32), "1.-1.0.x",
    "1.01.0." + String(repeating: "a", count: 32), "1.1.0." + String(repeating: "g", count: 32),
  ])
  func garbageIsNoToken(since: String) async throws {
    try await APIFixture.open { api in
      let reply = try await api.call(
        .get, "/v1/mirror?since=" + since, token: try await api.guest())
      #expect(reply.status == 400)
      #expect(reply["error"] == "invalid_parameter")
    }
  }

  @Test func tokenOfAnotherStoreOrOfAFutureHasToBeginAgain() async throws {
    try await APIFixture.open { api in
      let (first, second) = (try await api.guest(), try await api.guest())
      try await api.bookmark("h1", first)
      try await api.bookmark("h1", second)
      let page = try await api.call(.get, "/v1/mirror", token: first)
      let since = try #require(page["token"])
      let foreign = try await api.call(.get, "/v1/mirror?since=" + since, token: second)
      #expect(foreign.status == 410 && foreign["error"] == "resync_required")
      var parts = since.split(separator: ".").map(String.init)
      parts[1] = "999"
      let future = try await api.call(
        .get, "/v1/mirror?since=" + parts.joined(separator: "."), token: first)
      #expect(future.status == 410)
    }
  }

  @Test func longAnswerIsPackedForThoseWhoTakeGzip() async throws {
    try await APIFixture.open { api in
      let token = try await api.guest()
      for number in 0..<20 { try await api.bookmark("hotel-number-\(number)", token) }
      let plain = try await api.call(.get, "/v1/mirror", token: token)
      let packed = try await api.send(
        .get, "/v1/mirror", token: token, body: nil, headers: [.acceptEncoding: "br, gzip;q=0.5"])
      #expect(packed.headers[.contentEncoding] == "gzip")
      #expect(packed.sentCount < plain.sentCount / 2)
      #expect(packed.bytes == plain.bytes)
      let refused = try await api.call(
        .get, "/v1/mirror", token: token, headers: [.acceptEncoding: "gzip;q=0, *"])
      #expect(refused.headers[.contentEncoding] == nil)
    }
  }
}

/// The mirror of a client that has no CouchDB library.
struct MirrorCopy {
  private var hotels: [String: JSONValue] = [:]
  private var order: [String] = []
  private var token: String?

  /// Reads all pages of changes.
  mutating func update(from api: APIFixture, _ bearer: String) async throws {
    var hasMore = true
    while hasMore {
      let target = token.map { "/v1/mirror?since=" + $0 } ?? "/v1/mirror"
      let page = try await api.call(.get, target, token: bearer)
      try #require(page.status == 200)
      if page.json["reset"]?.bool == true { (hotels, order) = ([:], []) }
      for hotel in page.json["hotels"]?.array ?? [] {
        hotels[try #require(hotel["id"]?.string)] = hotel
      }
      for gone in page.json["removed"]?.array ?? [] { hotels[gone["id"]?.string ?? ""] = nil }
      if let order = page.json["order"]?.array { self.order = order.compactMap(\.string) }
      token = page["token"]
      hasMore = page.json["more"]?.bool ?? false
    }
  }

  /// Compares the mirror with the service's answers.
  func check(against api: APIFixture, _ bearer: String, _ context: String) async throws {
    let page = try await api.call(.get, "/v1/bookmarks?limit=100", token: bearer)
    let expected = page.json["bookmarks"]?.array ?? []
    #expect(order.compactMap { hotels[$0] } == expected, "\(context)")
  }
}
