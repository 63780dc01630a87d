import CouchSync
import Documents
import HTTPTypes
import Hummingbird

extension CopyTarget {
  /// Reads the header `Destination`: a document's id, percent-encoded, and `?rev=` with the revision that it has.
  ///
  /// Source: CouchDB, "COPY /{db}/{docid}"; the address is relative to the database.
  /// - Throws: 400 `bad_request` without the header; 400 for a malformed one.
  init(_ call: Call) throws {
    guard let field = call[.destination] else {
      throw CouchError.badRequest("Destination header is mandatory for COPY.")
    }
    let scheme = field.lowercased()
    guard !scheme.hasPrefix("http://"), !scheme.hasPrefix("https://") else {
      throw CouchError.badRequest("Destination URL must be relative.")
    }
    let path = field.utf8.prefix { $0 != UInt8(ascii: "?") }
    let query = try Call.pairs(field.utf8.dropFirst(path.count + 1))
    try self.init(
      RequestTarget.decode(path, what: "Destination"), revision: CouchParameters(query)["rev"])
  }
}

extension DocumentName {
  /// Reads which document a path names, `{docid}`, `_design/{name}` or `_local/{local}`; a slash after `_design` and
  /// `_local` may be percent-encoded.
  /// - Throws: ``DocumentError`` with code `invalidID`; ``Problem`` 400 for a broken escape.
  init(_ call: Call) throws {
    if call.arguments["design"] != nil {
      try self.init("_design/" + call.parameter("design"))
    } else if call.arguments["local"] != nil {
      try self.init(LocalID.clientPrefix + call.parameter("local"))
    } else {
      try self.init(call.parameter("docid"))
    }
  }
}
