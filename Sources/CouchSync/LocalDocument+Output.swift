import Documents
import Stores

extension LocalDocument {
  /// Writes the document as JSON, with its `_id` and `_rev`.
  func append(as id: LocalID, to writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("_id", id.text)
    writer.member("_rev", LocalRevision.text(revision))
    writer.members(of: body)
    writer.endObject()
  }
}
