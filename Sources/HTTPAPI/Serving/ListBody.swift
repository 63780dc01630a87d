import Documents
import Lists

/// A body that is an object with known members.
struct ListBody: Sendable {
  private let node: JSONNode

  /// Takes a body.
  /// - Throws: ``Problem`` 400 for anything but an object, and for an unknown member.
  init(_ node: JSONNode, known: [String]) throws(Problem) {
    guard node.kind == .object else { throw Problem.badRequest("The body must be an object") }
    for member in node.members where !known.contains(where: { member.nameEquals($0) }) {
      throw Problem.badRequest("The body may have \(known.joined(separator: ", ")) alone")
    }
    self.node = node
  }

  /// A member that is a string; nil if it is absent.
  /// - Throws: ``Problem`` 400 for any other value.
  func text(_ name: String) throws(Problem) -> String? {
    guard let member = node[name] else { return nil }
    guard let text = member.string else { throw Problem.badRequest("\(name) must be a string") }
    return text
  }

  /// The members `from` and `to`, as far as they are there.
  var dates: TripChange {
    var days: JSONObject = [:]
    for name in ["from", "to"] { days[name] = node[name]?.value }
    return TripChange(days)
  }

  /// The member `role`, which is `editor` or `reader`.
  /// - Throws: ``Problem`` 400 for anything else.
  func role() throws(Problem) -> ListRole {
    guard let role = try text("role").flatMap(ListRole.init), role != .owner else {
      throw Problem.badRequest("role must be editor or reader")
    }
    return role
  }

  /// A member that is a time; nil if it is absent.
  /// - Throws: ``Problem`` 400 for anything else.
  func moment(_ name: String) throws(Problem) -> Timestamp? {
    guard let text = try text(name) else { return nil }
    guard let moment = Timestamp(rfc3339: text) else {
      throw Problem.badRequest("\(name) must be a time as in 2026-11-21T02:09:00Z")
    }
    return moment
  }
}
