import Documents
import StoreTesting
import Stores
import TestSupport
import Testing

@testable import CouchSync
@testable import HTTPAPI

struct DeliveryTests {
  private static let id = AccountID(String(repeating: "a", count: 32))

  /// A person's own store, whose clock a test moves, and a device of a name.
  private struct Own {
    let store: DocumentStore
    let person: AccountID
    let clock = TestClock()

    init(limits: StoreLimits = .full) async throws {
      person = try #require(DeliveryTests.id)
      let name = StoreName.user(person)
      store = DocumentStore(
        name: name, storage: try #require(try await MemoryEngine().open(name, creating: true)),
        limits: limits, now: { [clock] in clock.now }, follower: Self.follower)
    }

    private static var follower: CommitFollower {
      var follower = CommitFollower.none
      follower.useRoom = { try await RefusedRetries.run(in: $0, as: $1) }
      return follower
    }

    /// Lets a device send a revision for which there is no room.
    func refuse(_ id: String, _ revision: String = "1-a") async throws {
      clock.advance(seconds: 1)
      let write = try DeliveryTests.write(id, revision)
      guard case .failure(let error)? = try await database("Phone").write([write]).first else {
        Issue.record("it was written")
        return
      }
      #expect(error.code == .quotaExceeded)
    }

    func database(_ device: String? = nil, mayDesign: Bool = true) -> CouchDatabase {
      CouchDatabase(
        name: "own", store: store,
        as: WriteContext(
          author: .user(person), device: DeviceLabel(name: device, agent: "Test/1")),
        saying: ErrorTable.couchWord, mayDesign: mayDesign)
    }

    func checkpoint(_ id: String, from device: String?, _ body: String) async throws {
      _ = try await database(device).putLocal(
        LocalID(client: "_local/" + id), LocalWrite(json(body)))
    }

    func token(_ sequence: Int64) async throws -> String {
      let info = try await store.read { view in try view.info() }
      return SinceToken.at(sequence, in: info, of: StoreTag(store.name)).text
    }
  }

  /// A device's revision with its ancestors, newest first.
  private static func write(
    _ id: String, _ history: String..., body: String = "{}", isDeleted: Bool = false
  ) throws -> DocumentWrite {
    DocumentWrite(
      of: try DocumentID(id), try DocumentBody(parsing: Array(body.utf8)), isDeleted: isDeleted,
      try history.map { try RevisionID($0) })
  }

  @Test func checkpointsOfOneNameAreOneDevice() async throws {
    let own = try await Own()
    _ = try await own.database().put(DocumentID("a"), json("{}"))
    let token = try await own.token(1)
    for (id, last) in [("pull", "\"\(token)\""), ("push", "7")] {
      try await own.checkpoint(
        id, from: "Phone",
        #"{"session_id":"s","history":[],"replicator":"pouchdb","last_seq":\#(last)}"#)
    }
    let (device, pending) = try #require(try await own.database().devices().first)
    #expect(try await own.database().devices().count == 1)
    #expect(device.label?.name == "Phone" && device.client == .pouchDB)
    #expect(device.position == 1 && pending == 0)
  }

  @Test func checkpointOfAnotherStoreOrOfSomethingElseHasNoPosition() async throws {
    let own = try await Own()
    _ = try await own.database().put(DocumentID("a"), json("{}"))
    for (id, last) in [("other", "1-00000000ffffffff"), ("couch", "1-g1AAAA"), ("beyond", "9")] {
      try await own.checkpoint(
        id, from: nil, #"{"session_id":"s","history":[],"source_last_seq":"\#(last)"}"#)
    }
    try await own.checkpoint("settings", from: nil, #"{"last_seq":"\#(try await own.token(1))"}"#)
    let devices = try await own.database().devices()
    #expect(devices.count == 3)
    #expect(devices.allSatisfy { $0.device.position == nil && $0.pending == 0 })
  }

  @Test func deviceThatStayedAwayIsNotSeen() async throws {
    let own = try await Own()
    let database = own.database()
    _ = try await database.put(DocumentID("a"), json("{}"))
    let document = try await database.explain(DocumentID("a"), nil)
    let day: Int64 = 86_400
    for (days, cause) in [(13, Delivery.Cause.behindCheckpoint), (15, .deviceNotSeen)] {
      let device = SyncDevice(id: "d", seen: Timestamp(seconds: 0), position: 0)
      let found = document.delivery(
        to: device, isConnected: false, ahead: 1, at: Timestamp(seconds: Int64(days) * day))
      #expect(found.cause == cause && found.state == .pending)
      #expect(found.reason.hasSuffix(": 1") == (cause == .behindCheckpoint))
    }
  }

  @Test func onlyTheNewestRefusedRevisionsAreKept() async throws {
    let own = try await Own(limits: StoreLimits(documents: 0, bytes: 1 << 20))
    let database = own.database("Phone")
    for number in 0..<(RefusedRevision.most + 3) { try await own.refuse("d\(number)") }
    let refused = try await database.refused()
    #expect(refused.count == RefusedRevision.most)
    #expect(refused.allSatisfy { $0.device?.name == "Phone" && $0.canPass })
  }

  @Test func whatHadNoRoomIsStoredWhenSomethingWasDeleted() async throws {
    let own = try await Own(limits: StoreLimits(documents: 1, bytes: 1 << 20))
    let first = try await own.database().put(DocumentID("a"), json("{}"))
    for id in ["b", "c"] { try await own.refuse(id) }
    #expect(try await own.database().refused().map(\.retriesLeft) == [3, 3])
    let base = try BaseRevision(query: first.json["rev"]?.string, ifMatch: nil)
    _ = try await own.database().delete(DocumentID("a"), base: base)
    let refused = try await own.database().refused()
    #expect(refused.map(\.id.text) == ["c"] && refused.map(\.retriesLeft) == [2])
    let here = try await own.database().explain(DocumentID("b"), nil).here
    #expect(here.state == .delivered)
    let reason = try await own.database().explain(DocumentID("c"), nil).here.reason
    #expect(reason.hasSuffix(". The server tries again when something was deleted"))
    // It was tried a moment ago, so that it is the person's turn.
    let next = try BaseRevision(query: "1-a", ifMatch: nil)
    _ = try await own.database().delete(DocumentID("b"), base: next)
    #expect(try await own.database().refused().count == 1)
    let written = try await own.database().retry(DocumentID("c")) { _ in nil }
    #expect(written.description == "1-a")
    #expect(try await own.database().refused().isEmpty)
  }

  @Test func oneCommitIsFollowedByTenAttemptsAtMost() async throws {
    let own = try await Own(limits: StoreLimits(documents: 13, bytes: 1 << 20))
    let body = try DocumentBody(parsing: Array("{}".utf8))
    let ids = try (0..<13).map { try DocumentID("d\($0)") }
    let first = try RevisionID("1-a")
    _ = try await own.database().write(
      ids.map { DocumentWrite(of: $0, body, isDeleted: false, [first]) })
    for number in 0..<12 { try await own.refuse("r\(number)") }
    let deletions = try ids.map {
      DocumentWrite(of: $0, body, isDeleted: true, [try RevisionID("2-b"), first])
    }
    _ = try await own.database().write(deletions)
    let refused = try await own.database().refused()
    #expect(refused.map(\.id.text) == ["r11", "r10"] && refused.map(\.retriesLeft) == [3, 3])
  }

  @Test func attemptThatCouldNotBeMadeDoesNotCount() async throws {
    let own = try await Own(limits: StoreLimits(documents: 0, bytes: 1 << 20))
    try await own.refuse("a")
    let late = WriteDeadline(own.clock.now.adding(seconds: -1))
    try await RefusedRetries.run(in: own.store, as: WriteContext(author: .server, deadline: late))
    #expect(try await own.database().refused().map(\.retriesLeft) == [3])
    try await RefusedRetries.run(in: own.store, as: WriteContext(author: .server))
    #expect(try await own.database().refused().map(\.retriesLeft) == [2])
  }

  @Test func commitsAtOnceThatMakeRoomAreFollowedByOneAttemptThatCounts() async throws {
    let own = try await Own(limits: StoreLimits(documents: 0, bytes: 1 << 20))
    try await own.refuse("a")
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          try await RefusedRetries.run(in: own.store, as: WriteContext(author: .server))
        }
      }
      try await group.waitForAll()
    }
    #expect(try await own.database().refused().map(\.retriesLeft) == [2])
  }

  @Test func whatHasNoRoomIsTriedThreeTimesAndThenWaitsForThePerson() async throws {
    let own = try await Own(limits: StoreLimits(documents: 0, bytes: 1 << 20))
    try await own.refuse("a")
    var left: [Int] = []
    for seconds: Int64 in [0, 0, 59, 1, 60, 600] {
      own.clock.advance(seconds: seconds)
      try await RefusedRetries.run(in: own.store, as: WriteContext(author: .server))
      left += try await own.database().refused().map(\.retriesLeft)
    }
    #expect(left == [2, 2, 2, 1, 0, 0])
    let here = try await own.database().explain(DocumentID("a"), nil).here
    #expect(here.state == .rejected && here.cause == .quota)
    #expect(here.reason.hasSuffix(". It waits until you send it again, change it or drop it"))
    // The same revision again has no other three; a changed one has.
    try await own.refuse("a")
    let again = try #require(try await own.database().refused().first)
    #expect(again.attempts == 2 && again.retriesLeft == 0)
    try await own.refuse("a", "1-b")
    let changed = try #require(try await own.database().refused().first)
    #expect(changed.attempts == 1 && changed.retriesLeft == 3)
  }

  /// Regression: an error that passes, such as an unknown outcome, was kept as a refusal for good.
  @Test(arguments: [
    ServiceError.Code.conflict, .missingStub, .outcomeUnknown, .unavailable, .overloaded, .moved,
    .ended, .storageFull,
  ])
  func conflictAndErrorThatPassesAreNotKept(_ code: ServiceError.Code) async throws {
    let own = try await Own()
    let write = try Self.write("d", "1-a")
    await own.database().keep([RefusedWrite(write: write, error: ServiceError(code, ""))])
    #expect(try await own.database().refused().isEmpty)
  }

  /// Regression: the deletion made room, and the server wrote the refused edit beside the tombstone.
  @Test func onlyThePersonBringsADeletedDocumentBack() async throws {
    let (own, id) = (try await Own(), try DocumentID("a"))
    let database = own.database("Phone")
    _ = try await database.write([
      Self.write("a", "1-a"), Self.write("b", "2-d", "1-a", isDeleted: true),
    ])
    let full = ServiceError(.quotaExceeded, "Full")
    await database.keep([
      RefusedWrite(write: try Self.write("a", "2-a", "1-a"), error: full),
      RefusedWrite(write: try Self.write("b", "3-a", "2-d", "1-a"), error: full),
    ])
    _ = try await database.write([Self.write("a", "2-d", "1-a", isDeleted: true)])
    // This edit was made after the deletion.
    #expect(try await database.explain(DocumentID("b"), nil).isLive)
    let left = try await database.refused()
    #expect(left.map(\.id.text) == ["a"] && left.map(\.retriesLeft) == [0])
    let document = try await database.explain(id, nil)
    #expect(!document.isLive && document.shown?.description == "2-a")
    #expect(document.here.reason == "Full. It waits until you send it again, change it or drop it")
    _ = try await database.retry(id) { _ in nil }
    #expect(try await database.explain(id, nil).isLive)
  }

  /// Regression: of what the parser refuses only the id was known, so that the ledger said that no device had sent it;
  /// and a document that is read in parts was read twice, and so had two attempts.
  @Test(arguments: [true, false])
  func whatTheParserRefusesIsKeptOnce(inParts: Bool) async throws {
    let deep = String(repeating: "[", count: 65) + String(repeating: "]", count: 65)
    var values = [#""\ud800""#, deep, #"{"y":1,"y":1}"#, "1e999"]
    if inParts {
      values.append("\"" + String(repeating: "y", count: CouchLimits.bulk.maximumBytes) + "\"")
    }
    let docs = values.enumerated().map { #"{"x":\#($1),"_id":"d\#($0)","_rev":"1-a"}"# }
    let body = Array(#"{"new_edits":false,"docs":[\#(docs.joined(separator: ","))]}"#.utf8)
    let database = try await Own().database("Phone")
    if inParts {
      var scanner = LongBulkRequest.scanner
      scanner.take(body)
      let request = try LongBulkRequest(scanner) { Array(body[$0]) }
      _ = try await database.bulkDocuments(request) {}
    } else {
      _ = try await database.bulkDocuments(try await BulkRequest.read(body, limits: .standard))
    }
    let refused = try await database.refused()
    #expect(Set(refused.map(\.id.text)) == Set(values.indices.map { "d\($0)" }))
    #expect(refused.allSatisfy { $0.revision.description == "1-a" && $0.attempts == 1 })
    #expect(try await database.explain(DocumentID("d0"), nil).here.cause == .rejected)
  }

  /// Regression: what Couchbase Lite sends was not kept if its id is refused; and a right that is missing was called
  /// a fault of the content.
  @Test func whatThePersonMayNotWriteIsKept() async throws {
    let own = try await Own()
    let database = own.database("Phone", mayDesign: false)
    _ = try await database.write([Self.write("_design/d", "1-a"), Self.write("a", "1-a")])
    let here = try await database.explain(DocumentID("_design/d"), nil).here
    #expect(here.state == .rejected && here.cause == .noRight)
    let refused = try #require(try await database.refused().first)
    // The app was updated meanwhile; the other one is a device of no name.
    #expect(refused.isSent(by: DeviceLabel(name: "Phone", agent: "Test/2")))
    #expect(!refused.isSent(by: DeviceLabel(name: nil, agent: "Test/1")))
    #expect(try await database.explain(DocumentID("a"), nil).here.state == .delivered)
  }

  /// Regression: the store has the revision's name, so that its refusal was kept and never shown.
  @Test func revisionThatIsKnownWithAnotherBodyIsRejected() async throws {
    let database = try await Own().database("Phone")
    for body in ["{}", #"{"x":1}"#] {
      _ = try await database.write([Self.write("a", "1-a", body: body)])
    }
    #expect(try await database.refused().map(\.body) == [Array(#"{"x":1}"#.utf8)])
    #expect(try await database.explain(DocumentID("a"), nil).here.cause == .rejected)
  }

  /// Regression: Couchbase Lite is not sent such ids, and counted as having the documents.
  @Test func couchbaseLiteTakesNoIDThatItCannotStore() async throws {
    let database = try await Own().database()
    let ids = [240, 241].map { String(repeating: "i", count: $0) } + ["a\u{1f}b", "a b\u{7f}"]
    _ = try await database.write(ids.map { try Self.write($0, "1-a") })
    let start = Timestamp(seconds: 0)
    let device = SyncDevice(id: "d", client: .couchbaseLite, seen: start, position: 4)
    var causes: [Delivery.Cause] = []
    for id in ids {
      let document = try await database.explain(DocumentID(id), nil)
      causes.append(document.delivery(to: device, isConnected: false, ahead: 0, at: start).cause)
    }
    #expect(causes == [.delivered, .filtered, .filtered, .delivered])
    let delivered = try await database.changes(
      isDelivered: true, to: device, from: 4, limit: 1)
    #expect(delivered.page.isEmpty && delivered.next == 3)
  }

  /// Regression: the ledger said that the device has it.
  @Test(arguments: [
    ("CouchbaseLite/4.0.4 (Swift)", 1 << 24, true), ("CouchbaseLite/3.2.2 (Swift)", 1 << 24, false),
    ("CouchbaseLite/3.2.2 (Swift)", 1 << 32, true), ("Someone's/1", (1 << 24) - 1, false),
  ])
  func couchbaseLiteTakesNoGenerationThatItCannotRead(
    _ agent: String, _ generation: Int, _ isRefused: Bool
  ) async throws {
    let own = try await Own()
    _ = try await own.database().write([Self.write("a", "\(generation)-a")])
    let device = SyncDevice(
      id: "d", label: DeviceLabel(name: nil, agent: agent), client: .couchbaseLite,
      seen: own.clock.now, position: 9)
    let document = try await own.database().explain(DocumentID("a"), nil)
    let found = document.delivery(to: device, isConnected: false, ahead: 0, at: own.clock.now)
    #expect(found.cause == (isRefused ? .filtered : .delivered))
  }

  /// Regression: the ledger said that no device had sent it.
  @Test func whatWasPurgedIsNamedSo() async throws {
    let own = try await Own()
    let id = try DocumentID("a")
    let writes = [try Self.write("a", "2-b", "1-a"), try Self.write("a", "2-c", "1-a")]
    for write in writes { _ = try await own.database().write([write]) }
    _ = try await own.database().purge(PurgeRequest(json(#"{"a":["2-c"]}"#)))
    func causes(_ revisions: String?...) async throws -> [Delivery.Cause] {
      var causes: [Delivery.Cause] = []
      for revision in try revisions.map({ try $0.map { try RevisionID($0) } }) {
        causes.append(try await own.database().explain(id, revision).here.cause)
      }
      return causes
    }
    #expect(try await causes("2-c", "2-b", nil, "3-d") == [.purged, .stored, .stored, .notSent])
    _ = try await own.database().purge(PurgeRequest(json(#"{"a":["2-b"]}"#)))
    #expect(try await causes(nil, "1-a", "3-d") == [.purged, .purged, .notSent])
  }

  @Test func labelIsCutBetweenCharactersAndHasNoControls() {
    let long = String(repeating: "é", count: 40)
    #expect(DeviceLabel(name: long, agent: nil)?.name == String(repeating: "é", count: 32))
    #expect(DeviceLabel(name: "a\u{7}\nb", agent: nil)?.name == "ab")
    #expect(DeviceLabel(name: "", agent: nil) == nil)
  }
}
