import Documents
import Scheduling
import Stores

/// The attachments of one revision in Base64, as far as they are encoded.
struct EncodedAttachments: Sendable {
  private var revision: RevisionID?
  private var attachments: [AttachmentName: EncodedAttachment] = [:]

  /// How many bytes the texts have.
  var count: Int { attachments.values.reduce(0) { $0 + $1.text.count } }

  /// Encodes those that an answer contains, until the slice is over. What was encoded of another revision is dropped.
  /// - Returns: whether all are encoded.
  /// - Throws: 413 for more than fit into an answer that is built in memory.
  mutating func encode(
    _ stubs: [AttachmentStub], by reader: AttachmentReader, in view: any StoreView
  ) throws -> Bool {
    if revision != reader.revision { (revision, attachments) = (reader.revision, [:]) }
    let wanted = try reader.wanted(stubs, in: view)
    let size = wanted.reduce(0) { $0 + ($1.facts?.length ?? 0) }
    guard size <= CouchLimits.answerBytes / 2 else {
      throw ServiceError.tooLarge(
        "The attachments are too long for one answer in JSON: read them one by one, or ask for "
          + "multipart/related")
    }
    for case (let stub, let facts?) in wanted {
      // Out of the dictionary while it grows, so that its text is not copied.
      var attachment = attachments.removeValue(forKey: stub.name) ?? EncodedAttachment(facts)
      defer { attachments[stub.name] = attachment }
      while !attachment.isComplete {
        try attachment.encodeNext(in: view)
        if view.slice.isOver { return false }
      }
    }
    return true
  }

  func attachment(_ name: AttachmentName, of revision: RevisionID) -> EncodedAttachment? {
    revision == self.revision ? attachments[name] : nil
  }
}

/// An attachment in Base64, as far as it is encoded.
struct EncodedAttachment: Sendable {
  private let facts: AttachmentFacts
  /// The text as JSON, with its quotation marks when it is complete.
  private(set) var text: [UInt8] = [UInt8(ascii: "\"")]
  private(set) var isComplete = false
  private var offset: Int64 = 0
  /// The bytes that are read and not encoded: less than three.
  private var rest: [UInt8] = []

  init(_ facts: AttachmentFacts) { self.facts = facts }

  /// Encodes the next piece.
  /// - Throws: `integrity`.
  mutating func encodeNext(in view: any StoreView) throws {
    if offset < facts.length {
      let piece = try view.bytes(offset..<facts.length, of: facts)
      offset += Int64(piece.count)
      rest += piece
    }
    isComplete = offset == facts.length
    let count = isComplete ? rest.count : rest.count / 3 * 3
    Base64.append(Array(rest.prefix(count)), to: &text)
    rest.removeFirst(count)
    if isComplete { text.append(UInt8(ascii: "\"")) }
  }
}
