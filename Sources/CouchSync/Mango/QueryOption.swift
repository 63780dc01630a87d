import Documents

/// Reads the members of a query's body, with CouchDB's words for what is wrong.
///
/// Source: CouchDB, `mango_opts`.
enum QueryOption {
  /// Checks that a body is an object that has no other members than these.
  /// - Throws: 400 `bad_request`, `invalid_key`.
  static func check(_ body: JSONNode, allows names: [String]) throws(CouchError) {
    guard body.kind == .object else { throw .badRequest("Request body must be a JSON object") }
    for member in body.members where !names.contains(where: { member.nameEquals($0) }) {
      throw CouchError(
        400, "invalid_key", "Invalid key \(member.name.prefix(64)) for this request.")
    }
  }

  /// A member that must be there.
  /// - Throws: 400 `missing_required_key`.
  static func required(_ name: String, in body: JSONNode) throws(CouchError) -> JSONNode {
    guard let node = body[name] else {
      throw CouchError(400, "missing_required_key", "Missing required key: \(name)")
    }
    return node
  }

  /// A member that is true or false.
  /// - Throws: 400 `invalid_boolean`.
  static func flag(
    _ name: String, in body: JSONNode, default standard: Bool
  ) throws(CouchError) -> Bool {
    guard let node = body[name] else { return standard }
    guard let flag = node.bool else {
      throw CouchError(400, "invalid_boolean", "Invalid boolean value: \(shown(node))")
    }
    return flag
  }

  /// A member that is a whole number from `least`, which is 0 or 1.
  /// - Throws: 400 `invalid_non_neg_integer`, `invalid_pos_integer`.
  static func count(
    _ name: String, in body: JSONNode, default standard: Int, least: Int = 0
  ) throws(CouchError) -> Int {
    guard let node = body[name] else { return standard }
    guard let count = node.int, count >= least else {
      throw least > 0
        ? CouchError(
          400, "invalid_pos_integer", "\(shown(node)) is not an integer greater than zero")
        : CouchError(
          400, "invalid_non_neg_integer",
          "\(shown(node)) is not an integer greater than or equal to zero")
    }
    return count
  }

  /// A member that is a string; nil when absent.
  /// - Throws: 400 `invalid_string`.
  static func text(_ name: String, in body: JSONNode) throws(CouchError) -> String? {
    guard let node = body[name] else { return nil }
    guard let text = node.string else {
      throw CouchError(400, "invalid_string", "Invalid string: \(shown(node))")
    }
    return text
  }

  /// A selector.
  /// - Throws: 400 `invalid_selector_json` for anything but an object; what ``Selector`` throws.
  static func selector(_ node: JSONNode) throws(CouchError) -> Selector {
    guard node.kind == .object else {
      throw CouchError(
        400, "invalid_selector_json", "Selector must be a JSON object, not: \(shown(node))")
    }
    return try Selector(node)
  }

  /// The beginning of a value, for an error's reason.
  static func shown(_ node: JSONNode) -> String {
    String(decoding: node.minified.prefix(64), as: UTF8.self)
  }
}
