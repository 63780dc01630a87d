import Documents
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
    let known = Set(attachments.compactMap(\.digest))
    var (named, found): (Set<LiteDigest>, Set<AttachmentName>) = ([], [])
    if LiteBlobs.mayBe(in: bytes) {
      let root = try await ParsedJSON.inSlices(bytes, limits: .stored).root
      let blobs = try await LiteBlobs(in: root, of: bytes)
      for blob in blobs.all where known.contains(blob.digest) {
        named.insert(blob.digest)
        if let name = blobs.nameOnDevice(of: blob) { found.insert(name) }
        try await Slice.giveWay()
      }
      remove(blobs.all.filter { !known.contains($0.digest) })
    }
    var (stubs, isNeeded): ([AttachmentStub], Bool) = ([], false)
    for (stub, digest) in attachments {
      stubs.append(
        AttachmentStub(
          name: found.contains(stub.name) ? stub.name : stub.name.onDevice,
          contentType: stub.contentType, generation: stub.generation,
          digest: digest?.text ?? stub.digest, length: stub.length))
      isNeeded = isNeeded || !stub.name.isOfBlob || !(digest.map(named.contains) ?? false)
    }
    guard !stubs.isEmpty, isNeeded || stubs.allSatisfy({ found.contains($0.name) }) else { return }
    bytes = JSONWriter.object { writer in
      writer.object(DocumentBody.attachmentsName) { writer in
        for stub in stubs { stub.append(to: &writer) }
      }
      writer.members(of: bytes)
    }
  }

  private mutating func remove(_ blobs: [LiteBlobs.Blob]) {
    let lost = blobs.map(\.node.offsets).sorted { $0.lowerBound < $1.lowerBound }
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
