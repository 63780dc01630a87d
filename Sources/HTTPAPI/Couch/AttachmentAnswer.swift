import CouchSync
import Documents
import HTTPServer
import HTTPTypes
import Hummingbird
import JSON
import Stores

/// An answer that contains attachments. It is read and sent part by part, no faster than the client reads it.
struct AttachmentAnswer: LongAnswerForm {
  /// A part of the answer.
  enum Segment: Sendable {
    case bytes([UInt8])
    case attachment(AttachmentFacts, Range<Int64>)

    var count: Int64 {
      switch self {
      case .bytes(let bytes): Int64(bytes.count)
      case .attachment(_, let range): Int64(range.count)
      }
    }
  }

  /// For a slow client the server holds so many bytes of attachments: 256 KiB.
  private static let partBytes: Int64 = 256 << 10

  let store: CouchStore
  private(set) var segments: ArraySlice<Segment>

  init(_ segments: [Segment], from store: CouchStore) {
    (self.segments, self.store) = (segments[...], store)
  }

  /// How many bytes the answer has.
  var count: Int64 { segments.reduce(0) { $0 + $1.count } }

  /// All bytes of an answer that is one part; nil for a longer one. An early error then has its status.
  func shortBytes() async throws -> [UInt8]? {
    guard count <= Self.partBytes else { return nil }
    var (bytes, rest) = ([UInt8](), self)
    while !rest.segments.isEmpty {
      for piece in try await rest.next(after: Subscription.News()).pieces { bytes += piece }
    }
    return bytes
  }

  mutating func next(after news: Subscription.News) async throws -> LongAnswerPart {
    var (pieces, count) = ([[UInt8]](), Int64(0))
    while count < Self.partBytes, let segment = segments.first {
      var rest = Int64(0)..<0
      switch segment {
      case .bytes(let bytes):
        pieces.append(bytes)
        count += Int64(bytes.count)
      case .attachment(let facts, let range):
        guard !range.isEmpty else { break }
        let bytes = try await store.read { database in try await database.bytes(range, of: facts) }
        pieces.append(bytes)
        count += Int64(bytes.count)
        rest = range.lowerBound + Int64(bytes.count)..<range.upperBound
        if !rest.isEmpty { segments[segments.startIndex] = .attachment(facts, rest) }
      }
      if rest.isEmpty { segments.removeFirst() }
    }
    guard segments.isEmpty else { return LongAnswerPart(pieces: pieces, following: .more) }
    return LongAnswerPart(pieces: pieces, following: .nothing, closing: [])
  }
}

/// Answers in the forms of `multipart`.
///
/// Source: RFC 2046, section 5.1; RFC 2387; CouchDB, `couch_doc:doc_to_multi_part_stream` and
/// `chttpd_db:send_docs_multipart`.
enum Multipart {
  typealias Segment = AttachmentAnswer.Segment

  /// A random boundary, so that it occurs in no part.
  static func boundary() -> String {
    var generator = SystemRandomNumberGenerator()
    return Hex.string(generator.next(), generator.next())
  }

  /// A document and the attachments that follow it; only the document if none does.
  static func related(
    _ document: MultipartDocument, _ boundary: String
  ) -> (type: String, segments: [Segment]) {
    guard !document.attachments.isEmpty else {
      return ("application/json", [.bytes(document.json)])
    }
    var segments: [Segment] = [
      bytes("--\(boundary)\r\nContent-Type: application/json\r\n\r\n"), .bytes(document.json),
      bytes("\r\n--\(boundary)"),
    ]
    for attachment in document.attachments {
      segments += [
        bytes(
          """
          \r\nContent-Disposition: attachment; filename="\(quoted(attachment.stub.name))"\r
          Content-Type: \(attachment.stub.contentType)\r
          Content-Length: \(attachment.facts.length)\r\n\r\n
          """),
        .attachment(attachment.facts, 0..<attachment.facts.length),
        bytes("\r\n--\(boundary)"),
      ]
    }
    segments.append(bytes("--"))
    return ("multipart/related; boundary=\"\(boundary)\"", segments)
  }

  /// Revisions, each as a part.
  static func mixed(_ revisions: [MultipartRevision], _ boundary: String) -> [Segment] {
    var segments = [bytes("--\(boundary)")]
    let inner = Self.boundary()
    for revision in revisions {
      switch revision {
      case .document(let document):
        let (type, parts) = related(document, inner)
        segments += [bytes("\r\nContent-Type: \(type)\r\n\r\n")] + parts
      case .missing(let text):
        segments.append(
          bytes(
            "\r\nContent-Type: application/json; error=\"true\"\r\n\r\n"
              + String(decoding: missing(text), as: UTF8.self)))
      }
      segments.append(bytes("\r\n--\(boundary)"))
    }
    return segments + [bytes("--")]
  }

  private static func missing(_ revision: String) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("missing", revision)
    writer.endObject()
    return writer.bytes
  }

  private static func bytes(_ text: String) -> Segment { .bytes(Array(text.utf8)) }

  /// A name in a quoted string (RFC 9110, section 5.6.4). Line ends, which no field may have, become spaces.
  static func quoted(_ name: AttachmentName) -> String {
    var bytes: [UInt8] = []
    for byte in name.text.utf8 {
      switch byte {
      case 0x00...0x1F, 0x7F: bytes.append(0x20)
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
      default: bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension Response {
  /// The fields of an answer that is an attachment. No browser shows it as a page of this server or runs anything in it,
  /// whatever its type is.
  static let attachmentFields: HTTPFields = {
    var fields = couchFields
    fields[.contentDisposition] = "attachment"
    fields[.contentSecurityPolicy] = "sandbox; default-src 'none'"
    return fields
  }()
}
