import Documents
import HTTPTypes

/// How a request's body is packed.
///
/// Source: RFC 9110, sections 8.4 and 12.5.3: a coding that is not taken is answered 415 with the one that is.
enum ContentCoding: Sendable {
  /// Not at all.
  case identity
  /// RFC 1952.
  case gzip

  /// Reads `Content-Encoding`. Names of codings know no case; `x-gzip` is gzip's old name.
  /// - Throws: ``Problem`` 415 for any other coding, and for several, one around the other: each could blow
  ///   up what the one before has unpacked.
  init(_ call: Call) throws(Problem) {
    switch call[.contentEncoding].map({ $0.trimmingSpaces.lowercased() }) {
    case nil, "identity", "": self = .identity
    case "gzip", "x-gzip": self = .gzip
    default:
      throw Problem(
        .unsupportedMediaType, "bad_content_type",
        "Content-Encoding must be gzip, once, or absent", headers: [.acceptEncoding: "gzip"])
    }
  }
}
