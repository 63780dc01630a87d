import CouchSync
import Documents
import Stores
import Testing

@testable import LiteSync

@Suite struct LiteSessionTests {
  @Test func changesAreAnnouncedNoFasterThanTheyAreAnswered() async throws {
    let store = try await Database()
    for number in 0..<500 { try await store.put("d\(number)") }
    var session = session()
    let replies = try await session.answer([(1, LiteRequest("subChanges"))], in: store)
    #expect(replies.map(\.reply.error) == [nil])
    var announced = try await requests(&session, in: store)
    // Two announcements of 200 rows each; then the client has to answer.
    #expect(announced.map(\.request.profile) == ["changes", "changes"])
    let rows = Array("[".utf8) + Array(repeating: Array("[],".utf8), count: 199).joined()
    let all = LiteReply(body: rows + Array("[]]".utf8))
    for outgoing in announced {
      _ = try await session.note(all, to: try #require(outgoing.token), in: store)
    }
    announced = try await requests(&session, in: store)
    // Nothing further is announced while many revisions are wanted, which need no answer.
    #expect(announced.prefix(200).allSatisfy { $0.request.profile == "rev" && $0.token == nil })
    let further = announced.filter { $0.request.profile == "changes" }
    #expect(announced.count == 401 && further.count == 1)
    let rest = Array("[".utf8) + Array(repeating: Array("[],".utf8), count: 99).joined()
    _ = try await session.note(
      LiteReply(body: rest + Array("[]]".utf8)), to: try #require(further.first?.token), in: store)
    announced = try await requests(&session, in: store)
    #expect(announced.count == 101 && announced.first?.request.body == Array("[]".utf8))
  }

  /// Regression: the client passed all of them in its checkpoint, so that it never got any. A one-shot pull ended before they
  /// were announced again.
  @Test func oneChangeThatTheClientCannotTakeKeepsNoOtherFromIt() async throws {
    let store = try await Database()
    for number in 0..<9 { try await store.put("d\(number)") }
    var session = session()
    _ = try await session.answer([(1, LiteRequest("subChanges"))], in: store)
    var (sent, refused, ends): ([String], [Int], [Int]) = ([], [], [])
    while case let next = try await requests(&session, in: store), !next.isEmpty {
      sent += next.filter { $0.request.profile == "rev" }.compactMap { $0.request["id"] }
      for outgoing in next where outgoing.request.profile == "changes" {
        guard let token = outgoing.token else {
          ends.append(refused.count)
          continue
        }
        let rows = Array(
          try ParsedJSON(outgoing.request.body, limits: .document).root.elements)
        let isTaken = !rows.contains { $0[1]?.string == "d3" }
        if !isTaken { refused.append(rows.count) }
        let all = Array(repeating: "[]", count: rows.count).joined(separator: ",")
        let reply =
          isTaken
          ? LiteReply(body: Array("[\(all)]".utf8)) : LiteReply(error: LiteError("SQLite", 1, ""))
        _ = try await session.note(reply, to: token, in: store)
      }
    }
    #expect(sent.sorted() == (0..<9).filter { $0 != 3 }.map { "d\($0)" })
    // The last one twice, because what has kept the client from it may have passed.
    #expect(refused == [9, 4, 2, 1, 1] && ends == [5])
  }

  /// Version 4 sees a conflict with each revision of a tree that it has from version 3, if the history has none.
  @Test(arguments: [
    ("rev-trees", "", "1-x"), ("version-vectors", "1-x", "2-x,1-x"), ("version-vectors", "1@x", ""),
  ])
  func aHistoryHasTheRevisionsThatTheClientCompares(
    _ form: String, _ known: String, _ wanted: String
  ) async throws {
    let store = try await Database()
    let ids = [try #require(try await store.put("a")), try #require(try await store.put("a"))]
    let named = { (text: String) in
      text.replacing("1-x", with: ids[0]).replacing("2-x", with: ids[1])
    }
    var session = session()
    _ = try await session.answer(
      [(1, LiteRequest("subChanges", ["versioning": form]))], in: store)
    let changes = try #require(try await requests(&session, in: store).first)
    let body = known.isEmpty ? "[[]]" : "[[\"\(named(known))\"]]"
    _ = try await session.note(
      LiteReply(body: Array(body.utf8)), to: try #require(changes.token), in: store)
    let sent = try #require(try await requests(&session, in: store).last).request
    #expect((sent["history"] ?? "") == named(wanted))
  }

  @Test func theEndOfTheChangesIsSaidOnce() async throws {
    let store = try await Database()
    var session = session()
    _ = try await session.answer(
      [(1, LiteRequest("subChanges", ["continuous": "true"]))], in: store)
    let first = try await requests(&session, in: store)
    #expect(first.map(\.request.body) == [Array("[]".utf8)] && first[0].request.isNoReply)
    session.noteNews()
    #expect(try await requests(&session, in: store).isEmpty)
    try await store.put("a")
    session.noteNews()
    #expect(try await requests(&session, in: store).map(\.request.profile) == ["changes"])
  }

  /// Regression: while others wrote, an answer of a continuous client was always due. It was not told, and stayed busy.
  /// Not before the answers to what was there: the end overtakes a message of several frames, and the client is idle without
  /// what that announces.
  @Test func aContinuousPullIsAtTheEndBeforeTheAnswersToLaterChanges() async throws {
    let store = try await Database()
    try await store.put("a")
    var session = session()
    let asked = LiteRequest("subChanges", ["continuous": "true"])
    _ = try await session.answer([(1, asked)], in: store)
    var sent = try await requests(&session, in: store)
    try await store.put("b")
    session.noteNews()
    sent += try await requests(&session, in: store)
    #expect(sent.map(\.request.isNoReply) == [false, false])
    _ = try await session.note(
      LiteReply(body: Array("[0]".utf8)), to: try #require(sent.first?.token), in: store)
    sent += try await requests(&session, in: store)
    #expect(sent.map(\.request.isNoReply) == [false, false, true])
    #expect(sent.last?.request.body == Array("[]".utf8))
  }

  /// As with Sync Gateway. Regression: a second pull took the place of the first, and what that had announced was not sent.
  @Test func aPullBeginsWhenTheLastOneIsOverAndKeepsWhatThatHasAnnounced() async throws {
    let store = try await Database()
    try await store.put("a")
    var session = session()
    let once = LiteRequest("subChanges")
    let feed = LiteRequest("subChanges", ["continuous": "true", "future": "true"])
    var replies = try await session.answer([(1, once)], in: store)
    var sent = try await requests(&session, in: store)
    replies += try await session.answer([(2, feed)], in: store)
    let all = LiteReply(body: Array("[[]]".utf8))
    _ = try await session.note(all, to: try #require(sent.first?.token), in: store)
    sent = try await session.next(in: store).requests
    #expect(sent.map(\.request.body) == [Array("[]".utf8)])
    replies += try await session.answer([(3, feed)], in: store)
    // Not the change that was there before, but its revision, which the client has asked for.
    sent = try await requests(&session, in: store)
    #expect(sent.map { $0.request["id"] ?? "" } == ["", "a"])
    #expect(sent.first?.request.body == Array("[]".utf8))
    try await store.put("b")
    session.noteNews()
    sent = try await requests(&session, in: store)
    replies += try await session.answer([(4, LiteRequest("unsubChanges"))], in: store)
    _ = try await session.note(all, to: try #require(sent.first?.token), in: store)
    try await store.put("c")
    session.noteNews()
    #expect(try await requests(&session, in: store).map { $0.request["id"] } == ["b"])
    replies += try await session.answer([(5, once)], in: store)
    #expect(replies.map(\.reply.error?.code) == [nil, 500, nil, nil, nil])
  }

  @Test func whatTheClientCannotTakeIsNotAnnouncedAgainWhenItHasEndedThePull() async throws {
    let store = try await Database()
    for name in ["a", "b"] { try await store.put(name) }
    var session = session()
    let feed = LiteRequest("subChanges", ["continuous": "true"])
    _ = try await session.answer([(1, feed)], in: store)
    let token = try #require(try await requests(&session, in: store).first?.token)
    _ = try await session.answer([(2, LiteRequest("unsubChanges"))], in: store)
    _ = try await session.note(LiteReply(error: LiteError("SQLite", 1, "")), to: token, in: store)
    #expect(try await requests(&session, in: store).isEmpty)
  }

  /// Regression: a pull by channels from many documents of others cost more than one message may, and never ended.
  @Test func aSearchThroughManyChangesIsDividedIntoPages() async throws {
    let store = try await Database()
    var session = session()
    let pushed: [LiteSession.Asked] = (1...2_600).map { number in
      (number, LiteRequest("rev", ["id": "d\(number)", "rev": "1-aaaaaaaaaa"]))
    }
    _ = try await session.answer(pushed, in: store)
    let asked = LiteRequest(
      "subChanges", ["filter": "sync_gateway/bychannel", "channels": "none"],
      body: Array("{}".utf8))
    _ = try await session.answer([(1, asked)], in: store)
    #expect(try await session.next(in: store).requests.isEmpty && session.isSearching)
    let last = try await session.next(in: store).requests
    #expect(last.map(\.request.body) == [Array("[]".utf8)] && !session.isSearching)
  }

  /// Each named collection has a checkpoint in the answer, which may be a thousand times as long as its name.
  @Test func aCollectionIsNamedOnce() async throws {
    let store = try await Database()
    var session = session()
    for (names, code) in [
      (["_default", "a.b", "_default._default"], nil),
      (["_default"] + ["_default", "_default"], 400),
    ] {
      let list = names.map { "\"\($0)\"" }.joined(separator: ",")
      let body = #"{"collections":[\#(list)],"checkpoint_ids":["a","b","c"]}"#
      let replies = try await session.answer(
        [(1, LiteRequest("getCollections", body: Array(body.utf8)))], in: store)
      #expect(replies.map(\.reply.error?.code) == [code])
    }
  }

  /// The client would see a conflict, and its resolver might drop what its user has just edited.
  @Test(arguments: ["rev", "norev"])
  func aRevisionWaitsWhileTheClientSendsOneThatIsMergedWithIt(_ profile: String) async throws {
    let store = try await Database()
    try await store.put("a")
    var session = session(merging: true)
    let rev = "2-" + String(repeating: "b", count: 40)
    let row = #"[["a","\#(rev)","1-\#(String(repeating: "c", count: 40))"]]"#
    let asked = LiteRequest("subChanges", ["sendReplacementRevs": "1"])
    _ = try await session.answer(
      [(1, asked), (2, LiteRequest("proposeChanges", body: Array(row.utf8)))], in: store)
    let changes = try #require(try await requests(&session, in: store).first)
    _ = try await session.note(
      LiteReply(body: Array("[[]]".utf8)), to: try #require(changes.token), in: store)
    #expect(try await requests(&session, in: store).map(\.request.body) == [Array("[]".utf8)])
    let sent = LiteRequest(profile, ["id": "a", "rev": rev], body: Array(#"{"n":1}"#.utf8))
    _ = try await session.answer([(3, sent)], in: store)
    #expect(try await requests(&session, in: store).map(\.request.profile) == ["rev"])
  }

  @Test func tombstonesAreLeftOutUntilAClientThatHasNothingHasCaughtUp() async throws {
    let store = try await Database()
    let revision = try await store.put("a")
    _ = try await store.database.delete(
      DocumentID("a"), base: BaseRevision(query: revision, ifMatch: nil))
    for (isActiveOnly, rows) in [("true", 0), ("false", 1)] {
      var session = session()
      _ = try await session.answer(
        [(1, LiteRequest("subChanges", ["activeOnly": isActiveOnly]))], in: store)
      let changes = try #require(try await requests(&session, in: store).first)
      #expect(try ParsedJSON(changes.request.body, limits: .document).root.count == rows)
    }
  }

  /// LiteCore would refuse all changes that are announced with it.
  @Test(arguments: [("rev-trees", 1 << 32), ("version-vectors", 1 << 24)])
  func aGenerationThatAClientCannotReadIsNotAnnounced(_ form: String, _ end: Int) async throws {
    let store = try await Database()
    for generation in [end - 1, end] {
      var other = session()
      let sent = LiteRequest("rev", ["id": "d\(generation)", "rev": "\(generation)-aaaaaaaaaa"])
      let replies = try await other.answer([(1, sent)], in: store)
      #expect(replies.map(\.reply.error) == [nil])
    }
    var session = session()
    _ = try await session.answer(
      [(1, LiteRequest("subChanges", ["versioning": form]))], in: store)
    let changes = try #require(try await requests(&session, in: store).first?.request)
    let rows = try ParsedJSON(changes.body, limits: .document).root
    #expect(rows.elements.map { $0[1]?.string } == ["d\(end - 1)"])
  }

  /// LiteCore keeps 20 revisions of a document, and the last one that the server has.
  @Test(arguments: [30, 5_000])
  func aDocumentThatWasOftenEditedOfflineIsTaken(_ generation: Int) async throws {
    let store = try await Database()
    let known = try #require(try await store.put("a"))
    var session = session()
    let digits = String(repeating: "b", count: 40)
    let kept = (generation - 19...generation).reversed().map { "\($0)-\(digits)" }
    for (ancestor, isTaken) in [("1-\(digits)", false), (known, true)] {
      let history = (kept.dropFirst() + [ancestor]).joined(separator: ",")
      let sent = LiteRequest(
        "rev", ["id": "a", "rev": kept[0], "history": history], body: Array(#"{"n":1}"#.utf8))
      let replies = try await session.answer([(1, sent)], in: store)
      #expect(replies.map { $0.reply.error == nil } == [isTaken])
    }
    let proposed = LiteRequest("proposeChanges", body: Array(#"[["a","\#(kept[0])",""]]"#.utf8))
    let replies = try await session.answer([(2, proposed)], in: store)
    #expect(replies.map(\.reply.body) == [Array("[304]".utf8)])
  }

  /// LiteCore sends ten revisions in turns, so that they become complete together, however long they are.
  @Test func tenLongRevisionsWaitTogetherForTheirBlobs() async throws {
    let (store, bytes) = (try await Database(), Array("abc".utf8))
    var session = session()
    let blob = #"{"@type":"blob","digest":"sha1-qZk+NkcGgWq6PiVxeFDCbJzQ2J0=","length":3}"#
    let part = "\"" + String(repeating: "x", count: 90_000) + "\""
    let texts = repeatElement(part, count: 10).joined(separator: ",")
    let text = #"{"pic":\#(blob),"texts":[\#(texts)]}"#
    let revision = "1-" + String(repeating: "a", count: 40)
    let requests: [LiteSession.Asked] = (1...10).map { number in
      (number, LiteRequest("rev", ["id": "d\(number)", "rev": revision], body: Array(text.utf8)))
    }
    let refused = try await session.answer(requests, in: store).map(\.reply.error)
    #expect(refused.isEmpty && session.heldBytes > 9_000_000)
    var replies: [LiteReply] = []
    while replies.count < requests.count {
      let outgoing = try #require(try await session.next(in: store).requests.first)
      let token = try #require(outgoing.token)
      if outgoing.isStreamed {
        _ = try await session.receive(bytes, isLast: true, to: token, in: store)
      } else {
        // The proof is wrong; then the bytes are asked for.
        _ = try await session.note(LiteReply(), to: token, in: store)
      }
      replies += try await session.finishUploads(in: store).map(\.reply)
    }
    #expect(replies.allSatisfy { $0.error == nil }, "\(replies.compactMap(\.error))")
    #expect(session.heldBytes == 0)
  }

  @Test(arguments: [
    (ServiceError.Code.quotaExceeded, 507, 503), (.overloaded, 429, 503), (.unavailable, 503, 503),
    (.integrity, 500, 503), (.missingStub, 412, 503), (.conflict, 409, 409),
    (.documentTooLarge, 413, 413), (.forbidden, 403, 403),
  ])
  func onlyWhatCanNeverPassIsFinal(_ code: ServiceError.Code, _ status: Int, _ wanted: Int) {
    let error = LiteError(ServiceError(code, "why"), status: { _ in status })
    #expect(error == LiteError("HTTP", wanted, "why"))
  }

  @Test func aLostDatabaseEndsTheSessionWithoutAReply() async throws {
    var session = session()
    let requests: [LiteSession.Asked] = [(1, LiteRequest("rev", ["id": "a", "rev": "1-aa"]))]
    await #expect(throws: ServiceError.absent) {
      try await session.answer(requests, in: LostDatabase())
    }
  }

  /// A continuous client sends again in its next session what is refused now. Older ones wait for their checkpoint for good
  /// after a refusal, and all pass a document without its blob.
  @Test(arguments: [
    (ServiceError.Code.quotaExceeded, "rev", false), (.unavailable, "rev", true),
    (.overloaded, "rev", true), (.readOnly, "rev", true), (.moved, "rev", true),
    (.integrity, "rev", false), (.quotaExceeded, "setCheckpoint", false),
    (.readOnly, "setCheckpoint", false), (.integrity, "getCheckpoint", true),
    (.integrity, "getCollections", true), (.integrity, "getAttachment", true),
  ])
  func whatPassesSoonOrIsNeededEndsTheSession(
    _ code: ServiceError.Code, _ profile: String, _ ends: Bool
  ) async throws {
    var session = LiteSession(in: .trees, merges: { _ in false }, status: { _ in 503 })
    let request = LiteRequest(
      profile,
      [
        "client": "x", "digest": "sha1-qZk+NkcGgWq6PiVxeFDCbJzQ2J0=", "id": "a",
        "rev": "1-aaaaaaaaaa",
      ], body: Array(#"{"checkpoint_ids":[],"collections":[]}"#.utf8))
    var replies: [LiteReply]?
    do {
      let store = LostDatabase(error: ServiceError(code, "Not now"))
      replies = try await session.answer([(1, request)], in: store).map(\.reply)
    } catch { #expect((error as? ServiceError)?.code == code) }
    #expect(replies?.map(\.error) == (ends ? nil : [LiteError("HTTP", 503, "Not now")]))
  }

  /// Regression: the ledger said that no device had sent it.
  @Test func aRevisionWhoseAttachmentIsRefusedIsInTheLedger() async throws {
    let person = try #require(AccountID(String(repeating: "a", count: 32)))
    let store = try await Database(.user(person), as: .user(person))
    var session = LiteSession(in: .trees, merges: { _ in false }, status: { _ in 413 })
    let blob = """
      {"b":{"@type":"blob","digest":"sha1-Kq5sNclPz7QV2+lfQIuc6R7oRu0=",
      "length":99999999999}}
      """
    let sent = LiteRequest(
      "rev", ["id": "a", "rev": "1-" + String(repeating: "b", count: 40)], body: Array(blob.utf8))
    #expect(try await session.answer([(1, sent)], in: store).isEmpty)
    let answers = try await session.next(in: store).answers
    #expect(answers.map(\.reply.error?.code) == [413])
    let here = try await store.database.explain(DocumentID("a"), nil).here
    #expect(here.state == .rejected && here.cause == .rejected)
  }

  private func session(merging: Bool = false) -> LiteSession {
    LiteSession(in: .trees, merges: { _ in merging }, status: { _ in 404 })
  }

  /// All requests that the session makes without an answer.
  private func requests(
    _ session: inout LiteSession, in store: Database
  ) async throws -> [LiteSession.Outgoing] {
    var all: [LiteSession.Outgoing] = []
    while true {
      let next = try await session.next(in: store).requests
      guard !next.isEmpty else { return all }
      all += next
    }
  }
}
