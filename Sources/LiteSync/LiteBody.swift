import Documents
import JSON
import Scheduling
import Stores

/// A stored body as Couchbase Lite reads it.
struct LiteBody: Sendable {
  /// The body, without its attachments before ``finish()``.
  private(set) var bytes: [UInt8]
  /// The attachments, with the SHA-1 of those whose bytes are here. Others keep their MD5, which the client leaves alone.
  private var attachments: [(stub: AttachmentStub, digest: LiteDigest?)] = []

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
    attachments = try stubs.map { stub in
      let facts = try keys[stub.name].flatMap { try view.attachment($0) }
      return (stub, facts.map { LiteDigest($0.sha1) })
    }
    bytes = DocumentBody.rest(of: body, behind: range)
  }

  /// Adds the attachments, and puts `null` in the place of each blob that is not among them: another client has removed it,
  /// and its bytes may be gone. A client could not store a document whose blob it does not get.
  ///
  /// What the client would not take for the blobs that it stands for is left out, if there are no other attachments: the
  /// blobs say it too. If there are, a client wants all blobs among them.
  mutating func finish() async throws {
    var (root, blobs): (JSONNode?, [LiteBlobs.Blob]) = (nil, [])
    if LiteBlobs.mayBe(in: bytes) {
      let parsed = try await ParsedJSON.inSlices(bytes, limits: .stored).root
      (root, blobs) = (parsed, try await LiteBlobs(in: parsed, of: bytes).all)
    }
    let named = Set(blobs.map(\.digest))
    var (stubs, isNeeded, areFound): ([AttachmentStub], Bool, Bool) = ([], false, true)
    for (stub, digest) in attachments {
      let isFound = root.map { LiteBlobs.isFound(by: stub.name, in: $0) } ?? false
      stubs.append(
        AttachmentStub(
          name: isFound ? stub.name : stub.name.onDevice, contentType: stub.contentType,
          generation: stub.generation, digest: digest?.text ?? stub.digest, length: stub.length))
      areFound = areFound && isFound
      isNeeded = isNeeded || !stub.name.isOfBlob || !(digest.map(named.contains) ?? false)
      try await Slice.giveWay()
    }
    removeLost(blobs)
    guard !stubs.isEmpty, areFound || isNeeded else { return }
    bytes = JSONWriter.object { writer in
      writer.object(DocumentBody.attachmentsName) { writer in
        for stub in stubs { stub.append(to: &writer) }
      }
      writer.members(of: bytes)
    }
  }

  private mutating func removeLost(_ blobs: [LiteBlobs.Blob]) {
    let known = Set(attachments.compactMap(\.digest))
    let lost = blobs.filter { !known.contains($0.digest) }.map(\.node.offsets)
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
