import CouchSync
import Documents
import HTTPTypes

/// Where `COPY` writes to: the header `Destination`, a document's id with the revision that it has.
///
/// Source: CouchDB, "COPY /{db}/{docid}"; the address is relative to the database.
struct CouchDestination: Sendable {
  /// The target.
  let id: DocumentID
  /// Its revision; nil where it is new.
  let base: RevisionID?

  /// Reads `docid` or `docid?rev=…`, percent-encoded.
  /// - Throws: 400 `bad_request` without the header; ``Problem`` and ``DocumentError`` for a malformed one.
  init(_ call: Call) throws {
    guard let field = call[.destination] else {
      throw CouchError.badRequest("Destination header is mandatory for COPY.")
    }
    let scheme = field.lowercased()
    guard !scheme.hasPrefix("http://"), !scheme.hasPrefix("https://") else {
      throw CouchError.badRequest("Destination URL must be relative.")
    }
    let path = field.utf8.prefix { $0 != UInt8(ascii: "?") }
    id = try DocumentID(RequestTarget.decode(path, what: "Destination"))
    let query = try Call.pairs(field.utf8.dropFirst(path.count + 1))
    base = try CouchParameters(query).revision("rev")
  }
}

extension HTTPRequest.Method {
  /// `COPY`, which CouchDB took over from WebDAV (RFC 4918, section 9.8).
  static let copy = HTTPRequest.Method("COPY") ?? .post
}

extension HTTPField.Name {
  /// `Destination` (RFC 4918, section 10.3).
  static let destination = HTTPField.Name("Destination") ?? .location
}
