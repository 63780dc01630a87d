import CouchSync
import Documents
import StoreTesting
import Stores
import Testing

@testable import LiteSync

@Suite struct LiteAttachmentTests {
  private static let digest = "sha1-Kq5sNclPz7QV2+lfQIuc6R7oRu0="
  /// The rest of the longest name with `blob_`.
  private static let tail = String(repeating: "n", count: AttachmentName.maximumBytes - 5)

  private static func blob(_ more: String = "") -> String {
    #"{"@type":"blob","digest":"\#(digest)","length":11\#(more)}"#
  }

  private static func names(in text: String) async throws -> [String] {
    let parsed = try ParsedJSON(Array(text.utf8), limits: .document)
    let document = try IncomingDocument(parsed.root)
    let found = try await LiteAttachment.all(in: document, parsed.root, Array(text.utf8))
    return found.map(\.name.text).sorted()
  }

  @Test func aBlobIsNamedByItsPlace() async throws {
    let text = """
      {"pic":\(Self.blob()),"a/b":{"~":[1,\(Self.blob()),{"x":\(Self.blob())}]},"no":{"@type":"blob"},
      "_attachments":{}}
      """
    #expect(
      try await Self.names(in: text) == ["blob_/a~1b/~0/1", "blob_/a~1b/~0/2/x", "blob_/pic"])
  }

  /// A pointer for each of these arrays would take gigabytes.
  @Test func aLongNameIsNotRepeatedForAllThatItContains() async throws {
    let arrays = String(repeating: "[],", count: 50_000)
    let name = String(repeating: "n", count: 400_000)
    let text = "{\"\(name)\":[\(arrays)\(Self.blob())]}"
    #expect(try await Self.names(in: text) == ["blob_" + Self.digest])
  }

  /// Regression: LiteCore dropped such attachments, or never stored the document.
  @Test(arguments: [
    ("a.png", "a.png"), ("blob", "blob"), ("blob_1.png", "~blob_1.png"), ("blob_", "~blob_"),
    ("~blob_x", "~~blob_x"), ("~blob", "~blob"),
    ("blob_" + tail, "~blob_" + tail),
  ])
  func aNameThatADeviceWouldTakeForABlobGoesAndComesBack(_ text: String, _ there: String) throws {
    let name = try AttachmentName(text)
    #expect(name.onDevice.text == there)
    #expect(try AttachmentName(onDevice: there) == name)
    let tooLong = "~blob_n" + Self.tail
    #expect(throws: DocumentError.self) { try AttachmentName(onDevice: tooLong) }
  }

  /// Regression: the bytes were asked for, and then the document was refused as JSON with the same name twice.
  @Test(arguments: [
    (["~blob_x", "~~blob_x", "blob_/pic"], ["blob_/pic", "blob_x", "~blob_x"]),
    (["~blob_x", "blob_x"], nil), (["~~blob_x", "~blob_x", "blob_x"], nil),
  ])
  func namesThatBecomeTheSameAreRefused(_ there: [String], _ here: [String]?) async throws {
    let members = there.map { #""\#($0)":{"stub":true,"digest":"\#(Self.digest)"}"# }
    let body = #"{"_attachments":{\#(members.joined(separator: ","))}}"#
    let limits = try await Database().documentLimits
    let sent = LiteRequest("rev", ["id": "a", "rev": "1-aaaaaaaaaa"], body: Array(body.utf8))
    guard let here else {
      await #expect(throws: DocumentError.self) {
        try await LitePush(sent, in: .trees, limits: limits, merges: { _ in false })
      }
      return
    }
    let push = try await LitePush(sent, in: .trees, limits: limits, merges: { _ in false })
    #expect(push.attachments.map(\.name.text).sorted() == here)
  }

  @Test func aPointerIsAsLongAsANameMayBe() async throws {
    let most = AttachmentName.maximumBytes - "blob_/".utf8.count
    for (count, named) in [(most, "blob_/"), (most + 1, "blob_sha1-")] {
      let names = try await Self.names(
        in: "{\"\(String(repeating: "n", count: count))\":\(Self.blob())}")
      #expect(names.count == 1 && names.first?.hasPrefix(named) == true)
    }
  }

  @Test func aDeviceFindsABlobByAPointerWithoutEscapes() async throws {
    let long = String(repeating: "n", count: 300)
    let text = """
      {"pic":\(Self.blob()),"a/b":\(Self.blob()),"list":[1,{"x":\(Self.blob())}],
      "\(long)":{"\(long)":\(Self.blob())}}
      """
    let root = try ParsedJSON(Array(text.utf8), limits: .document).root
    let blobs = try await LiteBlobs(in: root, of: Array(text.utf8))
    let names = blobs.all.compactMap { blobs.nameOnDevice(of: $0)?.text }
    #expect(names.sorted() == ["blob_/list/1/x", "blob_/pic"])
  }

  @Test func moreBlobsThanADocumentMayHaveAreRefused() async throws {
    let blobs = Array(repeating: Self.blob(), count: IncomingAttachment.most)
    #expect(
      try await Self.names(in: "{\"a\":[\(blobs.joined(separator: ","))]}").count == blobs.count)
    await #expect(throws: DocumentError.self) {
      try await Self.names(in: "{\"a\":[\((blobs + [Self.blob()]).joined(separator: ","))]}")
    }
  }

  /// The proof needs the stored bytes. The revision was refused, and a continuous client did not send it again.
  @Test func bytesThatAreDamagedAreAskedForInsteadOfAProof() async throws {
    let whole = try await Database()
    #expect(try await asked(for: "a", whole) == ["getAttachment"])
    #expect(try await asked(for: "b", whole) == ["proveAttachment", "getAttachment"])
    let pieces = try await whole.database.store.read { view in
      try view.localIDs(.below(LocalID.piecePrefix)) { $0.text }
    }
    let damaged = Database(
      whole.database.store.name, as: .server,
      over: DamagedStorage(whole.storage, without: Set(pieces)))
    #expect(try await asked(for: "c", damaged) == ["getAttachment"])
  }

  /// Regression: they stayed for a day, and the client sent them again in each of its next sessions.
  @Test func bytesWhoseRevisionEndsTheSessionAreDiscarded() async throws {
    let (store, ending) = (try await Database(), EndingDatabase())
    var session = LiteSession(in: .trees, merges: { _ in false }, status: { _ in 503 })
    let body =
      #"{"pic":{"@type":"blob","digest":"sha1-fXbUjWTXrFQR1xSku4Pzfj5bjfY=","length":2097152}}"#
    let sent = LiteRequest("rev", ["id": "a", "rev": "1-aaaaaaaaaa"], body: Array(body.utf8))
    #expect(try await session.answer([(1, sent)], in: store).isEmpty)
    let token = try #require(try await session.next(in: store).requests.first?.token)
    let bytes = [UInt8](repeating: 0, count: 2 << 20)
    _ = try await session.receive(bytes, isLast: true, to: token, in: store)
    await #expect(throws: ServiceError.self) { _ = try await session.finishUploads(in: ending) }
    #expect(ending.discardedCount == 1)
  }

  /// Sends a revision with a blob of three bytes, without a right proof.
  /// - Returns: the requests of the server until the revision is taken.
  private func asked(for id: String, _ store: Database) async throws -> [String] {
    var session = LiteSession(in: .trees, merges: { _ in false }, status: { _ in 500 })
    let body =
      #"{"pic":{"@type":"blob","digest":"sha1-qZk+NkcGgWq6PiVxeFDCbJzQ2J0=","length":3}}"#
    let sent = LiteRequest("rev", ["id": id, "rev": "1-aaaaaaaaaa"], body: Array(body.utf8))
    #expect(try await session.answer([(1, sent)], in: store).isEmpty)
    var profiles: [String] = []
    while case let outgoing = try await session.next(in: store).requests, !outgoing.isEmpty {
      profiles += outgoing.map(\.request.profile)
      let token = try #require(outgoing.first?.token)
      if outgoing.first?.isStreamed ?? false {
        _ = try await session.receive(Array("abc".utf8), isLast: true, to: token, in: store)
      } else {
        _ = try await session.note(LiteReply(), to: token, in: store)
      }
    }
    let replies = try await session.finishUploads(in: store).map(\.reply.error)
    #expect(replies == [nil])
    return profiles
  }
}
