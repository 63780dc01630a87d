import CouchSync
import Documents
import HTTPTypes
import Hummingbird
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
  static let partBytes: Int64 = 256 << 10

  let store: CouchStore
  private(set) var segments: ArraySlice<Segment>

  init(_ segments: [Segment], from store: CouchStore) {
    (self.segments, self.store) = (segments[...], store)
  }

  /// Makes an answer of a document and the attachments that follow it.
  init(_ text: RevisionText, from store: CouchStore) {
    var (segments, start) = ([Segment](), 0)
    for gap in text.gaps {
      segments.append(.bytes(Array(text.bytes[start..<gap.offset])))
      segments.append(.attachment(gap.facts, 0..<gap.facts.length))
      start = gap.offset
    }
    self.init(segments + [.bytes(Array(text.bytes[start...]))], from: store)
  }

  /// How many bytes the answer has.
  var count: Int64 { segments.reduce(0) { $0 + $1.count } }

  /// All bytes of an answer that is one part, in pieces; nil for a longer one. An early error then has its status.
  func shortPieces() async throws -> [[UInt8]]? {
    guard count <= Self.partBytes else { return nil }
    var (pieces, rest) = ([[UInt8]](), self)
    while !rest.segments.isEmpty {
      pieces += try await rest.next(after: Subscription.News()).pieces
    }
    return pieces
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
        let wanted = Self.partBytes - count
        let read = try await store.read { database in
          try await database.bytes(range, of: facts, enough: wanted)
        }
        let bytes = Int64(read.reduce(0) { $0 + $1.count })
        pieces += read
        count += bytes
        rest = range.lowerBound + bytes..<range.upperBound
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
/// Source: RFC 2046, section 5.1.
enum Multipart {
  /// A random boundary, so that it occurs in no part.
  static func boundary() -> String { Hex.random() }
}

extension OpenRevisions.Form {
  /// An answer of several parts.
  /// - Parameter kind: the subtype of `multipart`.
  static func parts(of kind: String) -> (form: OpenRevisions.Form, type: String) {
    let boundary = Multipart.boundary()
    return (
      .multipart(boundary: boundary, inner: Multipart.boundary()),
      "multipart/\(kind); boundary=\"\(boundary)\""
    )
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
