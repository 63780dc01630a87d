import Documents
package import Stores

/// A revision as an answer has it: its text, with gaps for the bytes of attachments, which are read while the answer is
/// sent. So an answer with long attachments is never whole in memory.
package struct RevisionText: Sendable {
  /// A place for the bytes of an attachment.
  package struct Gap: Sendable {
    /// The number of bytes of the text before it.
    package let offset: Int
    package let facts: AttachmentFacts
    /// Whether the bytes are written in Base64.
    let isBase64: Bool

    /// The same gap behind a longer text.
    func moved(by count: Int) -> Gap {
      Gap(offset: offset + count, facts: facts, isBase64: isBase64)
    }
  }

  /// The text without the attachments' bytes.
  package private(set) var bytes: [UInt8]
  /// The gaps, in the order of their offsets.
  package private(set) var gaps: [Gap]
  /// The type of the text.
  package private(set) var type = "application/json"

  /// Makes the text of a JSON document.
  init(_ bytes: [UInt8], gaps: [Gap] = []) { (self.bytes, self.gaps) = (bytes, gaps) }

  /// Makes the text of a JSON document and the attachments that follow it, as `multipart/related`; only the document if
  /// none does.
  ///
  /// Source: RFC 2387; CouchDB, `couch_doc:doc_to_multi_part_stream`.
  init(_ document: [UInt8], following: [FoundAttachment], _ boundary: String) {
    self.init(document)
    guard !following.isEmpty else { return }
    type = "multipart/related; boundary=\"\(boundary)\""
    bytes = Array("--\(boundary)\r\nContent-Type: application/json\r\n\r\n".utf8) + document
    for attachment in following {
      bytes += Array(
        """
        \r\n--\(boundary)\r
        Content-Disposition: attachment; filename="\(attachment.stub.name.quoted)"\r
        Content-Type: \(attachment.stub.contentType)\r
        Content-Length: \(attachment.facts.length)\r\n\r\n
        """.utf8)
      gaps.append(Gap(offset: bytes.count, facts: attachment.facts, isBase64: false))
    }
    bytes += Array("\r\n--\(boundary)--".utf8)
  }
}

extension AttachmentName {
  /// The name in a quoted string (RFC 9110, section 5.6.4). Line ends, which no field may have, become spaces.
  fileprivate var quoted: String {
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      switch byte {
      case 0x00...0x1F, 0x7F: bytes.append(0x20)
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
      default: bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// The bytes of an attachment, piece by piece.
struct AttachmentStream: Sendable {
  private let facts: AttachmentFacts
  private let isBase64: Bool
  private var offset: Int64 = 0
  /// The bytes that are read and not encoded: less than three.
  private var rest: [UInt8] = []

  init(_ facts: AttachmentFacts, isBase64: Bool) { (self.facts, self.isBase64) = (facts, isBase64) }

  var isComplete: Bool { offset == facts.length }

  /// The next piece: at most ``AttachmentLimits/pieceBytes``, or these in Base64.
  /// - Throws: `integrity`.
  mutating func next(in view: any StoreView) throws -> [UInt8] {
    guard !isComplete else { return [] }
    let piece = try view.bytes(offset..<facts.length, of: facts)
    offset += Int64(piece.count)
    guard isBase64 else { return piece }
    rest += piece
    let count = isComplete ? rest.count : rest.count / 3 * 3
    var text: [UInt8] = []
    Base64.append(Array(rest.prefix(count)), to: &text)
    rest.removeFirst(count)
    return text
  }
}
