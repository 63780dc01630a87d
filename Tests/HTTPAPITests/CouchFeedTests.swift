import CouchSync
import HTTPTypes
import NIOCore
import Synchronization
import Testing

@testable import HTTPAPI

/// Feeds as a client sees them.
@Suite(.timeLimit(.minutes(60))) struct CouchFeedTests {
  /// A user's own database with one document.
  private func database(_ api: APIFixture) async throws -> (
    token: String, path: String, since: String
  ) {
    let token = try await api.user("anna")
    let name = try #require(try await api.call(.get, "/v1/me", token: token)["store"])
    let path = "/couch/" + name
    try await api.call(.put, path + "/first", token: token, body: "{}")
    let since = try await api.call(.get, path + "/_changes", token: token)["last_seq"]
    return (token, path, try #require(since))
  }

  @Test func longpollAnswersTheFirstChange() async throws {
    try await APIFixture.open { api in
      let (token, path, since) = try await database(api)
      let answer = await api.openFeed(
        path + "/_changes?feed=longpoll&heartbeat=1000&since=" + since, token: token)
      try await api.call(.put, path + "/second", token: token, body: "{}")
      #expect(try await answer.value.ids == ["second"])
    }
  }

  @Test(arguments: ["longpoll", "continuous", "eventsource", "live"])
  func feedEndsAfterItsTimeout(kind: String) async throws {
    try await APIFixture.open { api in
      let (token, path, since) = try await database(api)
      let start = ContinuousClock.now
      let reply = try await api.send(
        .get, path + "/_changes?feed=\(kind)&timeout=300&since=" + since, token: token, body: nil,
        hasLines: kind == "continuous" || kind == "live")
      #expect(ContinuousClock.now - start >= .milliseconds(300))
      #expect(reply.text.contains("last_seq") == (kind != "eventsource"))
      let keeping = "private, " + (kind == "eventsource" ? "no-cache" : "must-revalidate")
      #expect(reply.headers[.cacheControl] == keeping)
      #expect(reply.headers[.accelBuffering] == "no")
    }
  }

  /// nginx, Apache and load balancers close a connection on which nothing has come for 60 seconds.
  @Test(
    .bug(id: "35/34"),
    arguments: [
      ("limit=9", nil, 50_000), ("timeout=60000", nil, 50_000), ("timeout=1", nil, 1),
      ("heartbeat=60000", 20_000, nil), ("heartbeat=true", 20_000, nil),
      ("heartbeat=1&timeout=60000", 100, nil),
    ] as [(String, Int?, Int?)])
  func noFeedIsSilentForAsLongAsProxiesWait(query: String, beat: Int?, end: Int?) throws {
    for kind in ["longpoll", "continuous", "eventsource"] {
      let feed = try CouchFeed(CouchParameters(Call.pairs("feed=\(kind)&\(query)".utf8)))
      #expect(feed.heartbeat == beat.map { Duration.milliseconds($0) })
      #expect(feed.timeout == end.map { Duration.milliseconds($0) })
    }
  }

  /// A change that a filter skips does not restart a feed's timeout: it ends while there are more and more of them.
  @Test func changesThatAreFilteredOutDoNotProlongAFeed() async throws {
    try await APIFixture.open { api in
      let (token, path, since) = try await database(api)
      // One write comes before the feed begins, because the feed may end before the first of the later writes.
      try await api.call(.put, path + "/before", token: token, body: "{}")
      let answer = await api.openFeed(
        path + "/_changes?feed=longpoll&timeout=500&filter=_design&since=" + since, token: token)
      let isOver = Atomic(false)
      async let end: Void = {
        _ = await answer.result
        isOver.store(true, ordering: .relaxed)
      }()
      var number = 0
      while !isOver.load(ordering: .relaxed) {
        number += 1
        try await api.call(.put, path + "/\(number)", token: token, body: "{}")
      }
      await end
      let reply = try await answer.value
      #expect(reply.ids == [])
      #expect(reply["last_seq"]?.hasPrefix("1-") == false)
    }
  }

  @Test func continuousFeedHasARowALineAndSignsOfLife() async throws {
    try await APIFixture.open { api in
      let (token, path, since) = try await database(api)
      let beats = Atomic(0)
      let answer = await api.openFeed(
        path + "/_changes?feed=continuous&heartbeat=100&limit=2&since=" + since, token: token,
        hasLines: true
      ) { piece in
        if piece == ByteBuffer(string: "\n") { beats.add(1, ordering: .relaxed) }
      }
      while beats.load(ordering: .relaxed) < 3 { try await Task.sleep(for: .milliseconds(1)) }
      for id in ["b", "c"] {
        try await api.call(.put, "\(path)/\(id)", token: token, body: "{}")
      }
      let lines = try await answer.value.text.split(
        separator: "\n", omittingEmptySubsequences: false)
      #expect(lines.prefix(3) == ["", "", ""])
      let rows = lines.filter { !$0.isEmpty }
      try #require(rows.count == 3)
      #expect(rows[0].contains(#""id":"b""#) && rows[1].contains(#""id":"c""#))
      #expect(rows[2].contains("last_seq"))
    }
  }

  @Test func eventSourceGoesOnAfterItsLastEvent() async throws {
    try await APIFixture.open { api in
      let (token, path, since) = try await database(api)
      try await api.call(.put, path + "/second", token: token, body: "{}")
      let feed = path + "/_changes?feed=eventsource&timeout=1"
      for (target, header) in [
        (feed + "&since=now", since), (feed, "\"\(since)\""), (feed + "&last-event-id=now", since),
      ] {
        let lastEvent: HTTPFields = [.lastEventID: header]
        let reply = try await api.call(.get, target, token: token, headers: lastEvent)
        #expect(reply.text.contains(#""id":"second""#), "\(target)")
        #expect(!reply.text.contains(#""id":"first""#), "\(target)")
      }
      let parameter = try await api.call(
        .get, feed + "&since=now&last-event-id=" + since, token: token)
      #expect(parameter.text.contains(#""id":"second""#))
      let beats = try await api.call(
        .get, path + "/_changes?feed=eventsource&limit=0", token: token)
      #expect(beats.mediaType == "text/event-stream")
    }
  }

  @Test(arguments: [
    "heartbeat=0", "heartbeat=-1", "heartbeat=x", "heartbeat=", "heartbeat=false", "timeout=-1",
    "timeout=x", "feed=none", "since=", "since=x", "since=-5", "last-event-id=x", "limit=x",
    "filter=_none", "filter=_selector",
  ])
  func malformedParameterIsRefused(parameter: String) async throws {
    try await APIFixture.open { api in
      let (token, path, _) = try await database(api)
      let feed = parameter.hasPrefix("feed") ? "" : "feed=continuous&"
      let reply = try await api.call(
        .get, path + "/_changes?" + feed + parameter, token: token)
      #expect(reply.status == 400)
    }
  }

  @Test func selectorIsTakenFromTheBody() async throws {
    try await APIFixture.open { api in
      let (token, path, _) = try await database(api)
      try await api.call(.put, path + "/hotel", token: token, body: #"{"type":"hotel"}"#)
      let reply = try await api.call(
        .post, path + "/_changes?filter=_selector", token: token,
        body: #"{"selector":{"type":"hotel"}}"#)
      #expect(reply.ids == ["hotel"])
      let bad = try await api.call(
        .post, path + "/_changes?filter=_selector", token: token,
        body: #"{"selector":{"type":{"$none":1}}}"#)
      #expect((bad.status, bad.error) == (400, "bad_request"))
      let none = try await api.call(.post, path + "/_changes", token: token)
      #expect(none.ids == ["first", "hotel"])
    }
  }

  @Test(.bug(id: "J13")) func tokenOfAnotherStoreStartsFromTheBeginning() async throws {
    try await APIFixture.open { api in
      let (_, _, since) = try await database(api)
      let other = try await api.guest()
      let name = try #require(try await api.call(.get, "/v1/me", token: other)["store"])
      try await api.call(.put, "/couch/\(name)/own", token: other, body: "{}")
      for feed in ["normal", "longpoll", "eventsource"] {
        let reply = try await api.call(
          .get, "/couch/\(name)/_changes?feed=\(feed)&since=\(since)&limit=1", token: other)
        #expect(reply.status == 200)
        #expect(reply.text.contains(#""id":"own""#))
      }
    }
  }

  /// A store is created at its first write. A feed that was opened earlier continues.
  @Test(arguments: ["now", "0", "last"])
  func feedOnAnAbsentStoreSeesTheFirstWrite(since: String) async throws {
    try await APIFixture.open { api in
      let token = try await api.guest()
      let name = try #require(try await api.call(.get, "/v1/me", token: token)["store"])
      let last = try await api.call(.get, "/couch/\(name)/_changes", token: token)["last_seq"]
      let index = since == "last" ? try #require(last) : since
      let answer = await api.openFeed(
        "/couch/\(name)/_changes?feed=continuous&limit=1&heartbeat=60000&since=" + index,
        token: token, hasLines: true)
      try await api.call(.put, "/couch/\(name)/first", token: token, body: "{}")
      #expect(try await answer.value.text.contains(#""id":"first""#))
    }
  }

  /// With a heartbeat, a feed has no other end.
  @Test(.bug(id: "Y05")) func feedEndsWithTheSession() async throws {
    try await APIFixture.open { api in
      let (token, path, since) = try await database(api)
      let answer = await api.openFeed(
        path + "/_changes?feed=continuous&heartbeat=100&since=" + since, token: token,
        hasLines: true)
      try await api.call(.delete, "/v1/sessions", token: token)
      #expect(try await answer.value.text.contains("last_seq"))
    }
  }

  @Test func feedEndsWithTheAccount() async throws {
    try await APIFixture.open { api in
      let (token, path, since) = try await database(api)
      let answer = await api.openFeed(
        path + "/_changes?feed=longpoll&heartbeat=100&since=" + since, token: token)
      try await api.call(.delete, "/v1/me", token: token)
      #expect(try await answer.value.ids == [])
    }
  }

  @Test func waitingFeedsOfOnePrincipalAreBounded() async throws {
    try await APIFixture.open { api in
      let (token, path, since) = try await database(api)
      let feed = path + "/_changes?feed=longpoll&heartbeat=60000&since=" + since
      try await withThrowingTaskGroup(of: Int.self) { group in
        for _ in 0..<Feeds.perPrincipal + 1 {
          group.addTask { try await api.call(.get, feed, token: token).status }
        }
        var statuses: [Int] = []
        for try await status in group {
          statuses.append(status)
          // All other feeds are waiting now and answer the first change.
          if status == 429 {
            try await api.call(.put, path + "/second", token: token, body: "{}")
          }
        }
        #expect(statuses.count { $0 == 429 } == 1)
        #expect(statuses.count { $0 == 200 } == Feeds.perPrincipal)
      }
      let later = try await api.call(.get, feed + "&limit=0", token: token)
      #expect(later.status == 200)
    }
  }

  /// A `HEAD` is answered without its body, which would have waited.
  @Test func headRegistersNoFeed() async throws {
    try await APIFixture.open { api in
      let (token, path, since) = try await database(api)
      let feed = path + "/_changes?feed=longpoll&timeout=1&since=" + since
      for _ in 0..<Feeds.perPrincipal + 4 {
        #expect(try await api.call(.head, feed, token: token).status == 200)
      }
      #expect(try await api.call(.get, feed, token: token).status == 200)
    }
  }
}
