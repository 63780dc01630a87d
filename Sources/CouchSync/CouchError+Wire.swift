import Documents

extension CouchError {
  /// The body of the answer: `{"error":…,"reason":…}`.
  package var body: [UInt8] {
    var writer = JSONWriter(reserving: 96)
    writer.beginObject()
    appendMembers(to: &writer)
    writer.endObject()
    return writer.bytes
  }

  /// Writes the two members into an open object.
  func appendMembers(to writer: inout JSONWriter) {
    writer.member("error", error)
    writer.member("reason", reason)
  }
}
