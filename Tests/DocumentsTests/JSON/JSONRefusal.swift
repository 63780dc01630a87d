import Documents
import Testing

/// A text that must be refused, and the byte offset that the error must name.
struct JSONRefusal: Sendable, CustomTestStringConvertible {
  let bytes: [UInt8]
  /// The byte offset of the error.
  let offset: Int
  let code: JSONError.Code

  init(_ text: String, _ offset: Int, _ code: JSONError.Code = .invalidJSON) {
    self.init(Array(text.utf8), offset, code)
  }

  /// A refused text that may not be UTF-8.
  init(_ bytes: [UInt8], _ offset: Int, _ code: JSONError.Code = .invalidJSON) {
    self.bytes = bytes
    self.offset = offset
    self.code = code
  }

  /// The text as a test report shows it.
  var testDescription: String {
    String(decoding: bytes.prefix(60), as: UTF8.self)
  }

  var error: JSONError {
    JSONError(code: code, offset: offset)
  }
}
