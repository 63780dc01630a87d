import Documents

/// The revisions of one document that `open_revs` found.
package struct OpenRevisionsAnswer: Sendable {
  /// In the order of the request, or winner first.
  package let revisions: [OpenRevision]

  /// A JSON array of `{"ok":…}` and `{"missing":…}`, for clients that accept JSON.
  package var json: [UInt8] {
    var writer = JSONWriter()
    writer.beginArray()
    for revision in revisions { revision.append(to: &writer) }
    writer.endArray()
    return writer.bytes
  }

  /// The same as `multipart/mixed`, one part a revision, for CouchDB's replicator.
  ///
  /// Source: RFC 2046, section 5.1; CouchDB, "GET /{db}/{docid}: efficient multiple attachments
  /// retrieving".
  /// - Parameter boundary: 1 to 70 letters and digits that occur in no document: random ones.
  package func multipart(boundary: String) -> [UInt8] {
    var bytes: [UInt8] = []
    for revision in revisions {
      bytes += "--\(boundary)\r\nContent-Type: application/json".utf8
      switch revision {
      case .found(let document):
        bytes += "\r\n\r\n".utf8
        bytes += document
      case .missing:
        bytes += "; error=\"true\"\r\n\r\n".utf8
        var writer = JSONWriter()
        revision.append(to: &writer)
        bytes += writer.bytes
      }
      bytes += "\r\n".utf8
    }
    bytes += "--\(boundary)--".utf8
    return bytes
  }
}
