import Documents

extension CouchError {
  /// 400 for a path with an empty name, a `\` at its end, or too many names.
  static func invalidFieldName(_ text: String) -> CouchError {
    CouchError(400, "invalid_field_name", "Invalid field name: " + shortened(Array(text.utf8)))
  }

  /// 400 for a selector that is no object.
  static func invalidSelector(_ node: JSONNode) -> CouchError {
    CouchError(
      400, "invalid_selector_json",
      "Selector must be a JSON object, not: " + shortened(node.minified))
  }

  /// 400 for a condition that belongs to no field.
  static let missingFieldName = CouchError(
    400, "invalid_selector", "One or more conditions is missing a field name.")

  /// 400 for an argument that an operator does not take.
  static func badArgument(_ name: String, _ node: JSONNode) -> CouchError {
    CouchError(
      400, "bad_arg", "Bad argument for operator \(name): " + shortened(node.minified))
  }

  /// 400 for a construct of Perl's regular expressions that RE2 does not have.
  static func patternNotOffered(_ construct: String) -> CouchError {
    CouchError(
      400, "invalid_selector",
      "A regular expression has \(construct), which is not offered: expressions are RE2's")
  }

  /// 400 for regular expressions whose programs are too large.
  static let patternTooLarge = CouchError(
    400, "invalid_selector", "The regular expressions are too large: fewer repetitions or classes")

  /// 400 for an operator that CouchDB knows and does not have, or has for text indexes alone.
  static func unsupportedOperator(_ name: String) -> CouchError {
    CouchError(400, "not_supported", "Unsupported operator: \(name)")
  }

  /// 400 for an operator that nobody knows.
  static func invalidOperator(_ name: String) -> CouchError {
    CouchError(400, "invalid_operator", "Invalid operator: " + shortened(Array(name.utf8)))
  }

  /// 400 for a selector beyond one of ``SelectorLimits``.
  static func selectorTooLarge(_ rule: String) -> CouchError {
    .badRequest("A selector has at most " + rule)
  }

  /// At most 100 bytes of what a client sent, to tell it what is meant.
  private static func shortened(_ bytes: [UInt8]) -> String {
    guard bytes.count > 100 else { return String(decoding: bytes, as: UTF8.self) }
    return String(decoding: bytes.prefix(100), as: UTF8.self) + "…"
  }
}
