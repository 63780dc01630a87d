package import Documents

/// One answer to "give me this revision".
package enum OpenRevision: Sendable, Equatable {
  /// The document as JSON.
  case found([UInt8])
  /// The revision asked for, which is unknown or no longer kept.
  case missing(RevisionID)

  /// Writes `{"ok":{…}}` or `{"missing":"…"}`.
  func append(to writer: inout JSONWriter) {
    writer.beginObject()
    switch self {
    case .found(let bytes): writer.member("ok", raw: bytes)
    case .missing(let revision): writer.member("missing", revision.description)
    }
    writer.endObject()
  }
}
