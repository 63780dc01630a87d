import Documents
import Hummingbird

/// Which document a path names: `{docid}`, `_design/{name}` or `_local/{local}`.
enum CouchDocumentName: Sendable {
  /// One that is replicated.
  case document(DocumentID)
  /// One that is not.
  case local(LocalID)

  /// Reads the path; a slash after `_design` and `_local` may be percent-encoded.
  /// - Throws: ``DocumentError`` with code `invalidID`; ``Problem`` 400 for a broken escape.
  init(_ call: Call) throws {
    if call.arguments["design"] != nil {
      self = .document(try DocumentID("_design/" + call.parameter("design")))
    } else if call.arguments["local"] != nil {
      self = .local(try LocalID(client: LocalID.clientPrefix + call.parameter("local")))
    } else {
      let text = try call.parameter("docid")
      self =
        text.utf8.starts(with: LocalID.clientPrefix.utf8)
        ? .local(try LocalID(client: text)) : .document(try DocumentID(text))
    }
  }
}
