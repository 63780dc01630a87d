import HTTPTypes
import NIOCore
import Synchronization
import Testing

@testable import HTTPAPI

/// Answers of `_changes` whose reader loses the permission to read before they are written.
@Suite(.timeLimit(.minutes(60))) struct CouchFeedEndTests {
  /// The bytes of an answer that a client has received.
  private final class ReceivedBytes: Sendable {
    private let bytes = Mutex<[UInt8]>([])
    /// Whether the server has noticed that the reader's permission has ended.
    let isRevoked = Atomic<Bool>(false)

    var text: String { String(decoding: bytes.withLock { $0 }, as: UTF8.self) }

    /// - Returns: whether these are the first bytes.
    func add(_ piece: ByteBuffer) -> Bool {
      bytes.withLock { bytes in
        defer { bytes += piece.readableBytesView }
        return bytes.isEmpty && piece.readableBytes > 0
      }
    }
  }

  /// Makes documents for more than one page.
  private func fill(_ api: AccountAPIFixture) async throws {
    let text = String(repeating: "x", count: 50_000)
    let documents = (0..<40).map { #"{"_id":"\#($0)","text":"\#(text)"}"# }
    let reply = try await api.call(
      .administrator, .post, AccountAPIFixture.path + "/_bulk_docs",
      body: #"{"docs":[\#(documents.joined(separator: ","))]}"#)
    #expect(reply.status == 201)
  }

  /// The answer ends in the middle of its page and does not look complete.
  @Test(.bug(id: "Y05"), arguments: ["normal", "longpoll", "continuous", "eventsource"])
  func pageIsCutOffWithThePermission(kind: String) async throws {
    try await AccountAPIFixture.open { api in
      try await fill(api)
      // This one waits. It ends when the server knows that the member may not read any more.
      let other = await api.api.openFeed(
        AccountAPIFixture.path + "/_changes?feed=longpoll&since=now&heartbeat=60000",
        token: try api.token(.member))
      let received = ReceivedBytes()
      await #expect(throws: (any Error).self) {
        try await PieceByPiece.$take.withValue({ piece in
          guard received.add(piece) else { return try await Task.sleep(for: .milliseconds(100)) }
          try await api.secure(#"{"members":{"names":["chief"]}}"#)
          try await api.call(.administrator, .put, AccountAPIFixture.path + "/news", body: "{}")
          #expect(try await other.value.ids == [])
          received.isRevoked.store(true, ordering: .relaxed)
        }) {
          try await api.call(
            .member, .get,
            AccountAPIFixture.path + "/_changes?include_docs=true&heartbeat=60000&feed=" + kind)
        }
      }
      let isRevoked = received.isRevoked.load(ordering: .relaxed)
      #expect(isRevoked)
      #expect(received.text.utf8.count < 1 << 19)
      #expect(!received.text.contains("news") && !received.text.contains("last_seq"))
    }
  }
}
