package import Documents
import Stores

/// Reads the members of a query's body, with CouchDB's messages for errors.
///
/// Source: CouchDB, `mango_opts`.
package enum QueryOption {
  /// The value of the required member of an object that has no other members than these. That it is missing is reported
  /// first, as in CouchDB: a client that sent `fields` without the `index` around it learns what is wrong.
  /// - Throws: 400 `bad_request`, `missing_required_key`, `invalid_key`.
  package static func required(
    _ name: String, in body: JSONNode, allows names: [String]
  ) throws -> JSONNode {
    guard body.kind == .object else {
      throw ServiceError.badRequest("Request body must be a JSON object")
    }
    guard let node = body[name] else {
      throw ServiceError(.missingRequiredKey, "Missing required key: \(name)")
    }
    for member in body.members where !names.contains(where: { member.nameEquals($0) }) {
      throw ServiceError(.invalidKey, "Invalid key \(member.name.prefix(64)) for this request.")
    }
    return node
  }

  /// The value of a member that is a Boolean; `standard` when absent.
  /// - Throws: 400 `invalid_boolean`.
  static func flag(_ name: String, in body: JSONNode, default standard: Bool) throws -> Bool {
    guard let node = body[name] else { return standard }
    guard let flag = node.bool else {
      throw ServiceError(.invalidBoolean, "Invalid boolean value: \(shown(node))")
    }
    return flag
  }

  /// The value of a member that is a whole number from `least`, which is 0 or 1; `standard` when absent.
  /// - Throws: 400 `invalid_non_neg_integer`, `invalid_pos_integer`.
  package static func count(
    _ name: String, in body: JSONNode, default standard: Int, least: Int = 0
  ) throws -> Int {
    guard let node = body[name] else { return standard }
    guard let count = node.int, count >= least else {
      throw least > 0
        ? ServiceError(
          .invalidPositiveInteger, "\(shown(node)) is not an integer greater than zero")
        : ServiceError(
          .invalidNonNegativeInteger,
          "\(shown(node)) is not an integer greater than or equal to zero")
    }
    return count
  }

  /// The value of a member that is a string; nil when absent.
  /// - Throws: 400 `invalid_string`.
  static func text(_ name: String, in body: JSONNode) throws -> String? {
    guard let node = body[name] else { return nil }
    guard let text = node.string else {
      throw ServiceError(.invalidString, "Invalid string: \(shown(node))")
    }
    return text
  }

  /// The first 64 bytes of a value, for the reason of an error.
  package static func shown(_ node: JSONNode) -> String {
    String(decoding: node.minified.prefix(64), as: UTF8.self)
  }
}
