/// The name of an attachment: 1 to 512 bytes of UTF-8 without NUL, which does not start with `_`.
///
/// Source: CouchDB, `couch_att:validate_name`. The limit of the length is this project's own.
package struct AttachmentName: ByteString {
  package static let maximumBytes = 512

  package let text: String

  /// - Throws: ``DocumentError`` with code `invalidAttachment` or `attachmentLimit`.
  package init(_ text: String) throws(DocumentError) {
    let bytes = text.utf8
    guard (1...Self.maximumBytes).contains(bytes.count), !bytes.contains(0) else {
      throw DocumentError(
        .attachmentLimit,
        "An attachment's name has 1 to \(Self.maximumBytes) bytes and no NUL")
    }
    guard bytes.first != UInt8(ascii: "_") else {
      throw DocumentError(
        .invalidAttachment, "Attachment name '\(text)' starts with prohibited character '_'")
    }
    self.text = text
  }

  /// Creates a name from a stored text, without a check.
  package init(stored text: String) { self.text = text }
}
