/// Why a text was refused as JSON, and where.
package struct JSONError: Error, Sendable, Equatable, CustomDebugStringConvertible {
  /// The reasons for a refusal; the raw values are part of the public interface.
  package enum Code: String, Sendable {
    /// The text does not follow the grammar of RFC 8259.
    case invalidJSON = "invalid_json"
    /// A string contains bytes that are not UTF-8 (RFC 3629), or an escaped surrogate without its pair.
    case invalidUTF8 = "invalid_utf8"
    /// An object has two members of the same name, compared by UTF-8 bytes with escapes resolved.
    case duplicateKey = "duplicate_key"
    /// The nesting exceeds ``JSONLimits/maximumDepth``.
    case tooDeep = "too_deep"
    /// The text exceeds ``JSONLimits/maximumBytes``.
    case tooLarge = "too_large"
    /// An object exceeds ``JSONLimits/maximumMembers``.
    case tooManyMembers = "too_many_members"
    /// The text exceeds ``JSONLimits/maximumValues``.
    case tooManyValues = "too_many_values"
    /// A string exceeds ``JSONLimits/maximumStringBytes``.
    case stringTooLong = "string_too_long"
    /// A number exceeds ``JSONLimits/maximumNumberDigits``, or no double can hold it.
    case numberOutOfRange = "number_out_of_range"
  }

  package let code: Code

  /// The position of the error, in bytes from the start of the text: the first byte that the grammar does not allow, or
  /// the start of the string, number, name or bracket in error. It equals the length of a text that ends too early; for
  /// ``Code/tooLarge`` it is the limit.
  package let offset: Int

  /// The RFC 6901 pointer to the repeated member of a ``Code/duplicateKey``; nil for the other codes and when the
  /// pointer would have more than 1,024 bytes.
  package let pointer: String?

  package init(code: Code, offset: Int, pointer: String? = nil) {
    self.code = code
    self.offset = offset
    self.pointer = pointer
  }

  /// Whether the error is in one value of a text whose brackets and strings may all be correct, so that the values
  /// beside it could be read.
  package var isOfOneValue: Bool {
    switch code {
    case .duplicateKey, .invalidUTF8, .tooDeep, .tooManyMembers, .stringTooLong, .numberOutOfRange:
      true
    case .invalidJSON, .tooLarge, .tooManyValues: false
    }
  }

  /// A sentence for the client, with the offset and, for a repeated member, the pointer.
  package var reason: String {
    switch code {
    case .invalidJSON:
      offset == 0
        ? "The text is empty, or it is not JSON." : "The text is not valid JSON at byte \(offset)."
    case .invalidUTF8: "The JSON text has a string that is not valid Unicode at byte \(offset)."
    case .duplicateKey:
      if let pointer {
        "The JSON object repeats the member \(pointer) at byte \(offset)."
      } else {
        "The JSON object repeats a member at byte \(offset)."
      }
    case .tooDeep: "The JSON text is nested too deeply at byte \(offset)."
    case .tooLarge: "The JSON text is longer than \(offset) bytes."
    case .tooManyMembers: "The JSON object has too many members at byte \(offset)."
    case .tooManyValues:
      "The JSON text has too many values: one more than it may have is at byte \(offset)."
    case .stringTooLong: "The JSON string is too long at byte \(offset)."
    case .numberOutOfRange:
      "The JSON number has too many digits, or no double can hold it, at byte \(offset)."
    }
  }

  /// The code, the offset and the pointer.
  package var debugDescription: String {
    "JSONError(\(code.rawValue) at byte \(offset)\(pointer.map { ", " + $0 } ?? ""))"
  }
}
