import Documents
import JSON
import Scheduling
import Stores

/// A stored body as Couchbase Lite reads it.
struct LiteBody: Sendable {
  /// The body. Its attachments have SHA-1; one whose bytes are not here keeps its MD5, which the client leaves alone.
  private(set) var bytes: [UInt8]
  /// The attachments whose bytes are here.
  private var digests: Set<LiteDigest> = []

  /// What has no body.
  static let none = LiteBody()

  /// What a client purges a document by, whatever its revision is. Source: Sync Gateway.
  static let removed = LiteBody(Array(#"{"_removed":true}"#.utf8))

  private init(_ bytes: [UInt8] = []) { self.bytes = bytes }

  /// - Parameter body: the stored body of the revision.
  init(_ body: [UInt8], of id: DocumentID, _ revision: RevisionID, in view: any StoreView) throws {
    bytes = body
    guard let (stubs, range) = DocumentBody.attachments(in: body) else { return }
    let keys = try view.attachmentKeys(of: id, revision)
    try bytes = JSONWriter.object { writer in
      try writer.object("_attachments") { writer in
        for stub in stubs {
          let facts = try keys[stub.name].flatMap { try view.attachment($0) }
          let digest = facts.map { LiteDigest($0.sha1) }
          if let digest { digests.insert(digest) }
          writer.object(stub.name.text) { writer in
            writer.member("content_type", stub.contentType)
            writer.member("revpos", stub.generation)
            writer.member("digest", digest?.text ?? stub.digest)
            writer.member("length", Int(clamping: stub.length))
            writer.member("stub", true)
          }
        }
      }
      writer.members(of: DocumentBody.rest(of: body, behind: range))
    }
  }

  /// Puts `null` in the place of each blob that is not among the attachments: another client has removed it, and its bytes
  /// may be gone. A client could not store a document whose blob it does not get.
  mutating func removeLostBlobs() async throws {
    guard LiteBlobs.mayBe(in: bytes) else { return }
    let root = try await ParsedJSON.inSlices(bytes, limits: .stored).root
    let blobs = try await LiteBlobs(in: root, of: bytes)
    let lost = blobs.all.filter { !digests.contains($0.digest) }.map(\.node.offsets)
      .sorted { $0.lowerBound < $1.lowerBound }
    guard !lost.isEmpty else { return }
    var (kept, end): ([UInt8], Int) = ([], 0)
    kept.reserveCapacity(bytes.count)
    for blob in lost {
      kept += bytes[end..<blob.lowerBound]
      kept += "null".utf8
      end = blob.upperBound
    }
    bytes = kept + bytes[end...]
  }
}

extension ParsedJSON {
  /// Parses a text, and gives way between two parts of it.
  /// - Throws: ``JSONError``; `ended`.
  static func inSlices(_ text: [UInt8], limits: JSONLimits) async throws -> ParsedJSON {
    var reader = JSONReader(text, limits: limits)
    while true {
      if let parsed = try reader.next() { return parsed }
      try await Slice.giveWay()
    }
  }
}
