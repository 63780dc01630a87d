import Documents
import HTTPTypes
import Hotels
import Hummingbird
import Stores

/// The entity tags in a field of a conditional request.
///
/// Source: RFC 9110, sections 8.8.3, 13.1.1 and 13.1.2.
struct EntityTags: Sendable {
  /// Whether the field is `*`.
  let isAny: Bool
  /// The tags without quotation marks. For a strong comparison weak ones are omitted, and so is whose body it was
  /// (``tag(_:of:)``).
  let tags: [String]

  /// Reads a field; nil if it is absent.
  /// - Parameter strong: whether weak tags must not match (`If-Match`).
  /// - Throws: ``Problem`` 400 for anything but `*` or a list of quoted tags.
  init?(_ call: Call, _ name: HTTPField.Name, strong: Bool) throws(Problem) {
    guard let field = call[name] else { return nil }
    let text = field.trimmingSpaces
    if text == "*" {
      isAny = true
      tags = []
      return
    }
    var tags: [String] = []
    for part in text.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
      var tag = String(decoding: part, as: UTF8.self).trimmingSpaces.utf8[...]
      let isWeak = tag.starts(with: "W/".utf8)
      if isWeak { tag = tag.dropFirst(2) }
      guard tag.count >= 2, tag.first == UInt8(ascii: "\""), tag.last == UInt8(ascii: "\""),
        !tag.dropFirst().dropLast().contains(UInt8(ascii: "\""))
      else { throw Problem.invalidHeader("\(name.canonicalName) must be * or quoted entity tags") }
      guard !(isWeak && strong) else { continue }
      tag = tag.dropFirst().dropLast()
      if strong { tag = tag.prefix { $0 != UInt8(ascii: "+") } }
      tags.append(String(decoding: tag, as: UTF8.self))
    }
    isAny = false
    self.tags = tags
  }

  /// Whether a tag, without quotation marks, is among them.
  func matches(_ tag: String) -> Bool { isAny || tags.contains { $0.equalsBytes(of: tag) } }

  /// An entity tag that no other person's body at the same URL has (RFC 9110, section 8.8.1). Equal revisions of two
  /// people may have been written at different times. `If-Match` compares only the state.
  /// - Parameter owner: identifies the person.
  static func tag(_ state: String, of owner: String) -> String {
    state + "+" + Hex.digest(of: owner, digits: 12)
  }

  /// The entity tag of a revision of a bookmark or another document. A list's is the same for all members.
  static func tag(_ state: String, of store: StoreName) -> String {
    if case .list = store { state } else { tag(state, of: store.key) }
  }
}

extension HTTPFields {
  /// An entity tag, given without quotation marks.
  static func tagged(_ tag: String) -> HTTPFields { [.eTag: "\"\(tag)\""] }
}

extension Call {
  /// The answer 304 to a read by a client that has the present state; nil for any other.
  /// - Parameter fields: the answer's fields, with the tag.
  func notModified(_ tag: String, _ fields: HTTPFields) throws(Problem) -> Response? {
    guard let known = try EntityTags(self, .ifNoneMatch, strong: false), known.matches(tag) else {
      return nil
    }
    return .empty(.notModified, headers: fields)
  }
}

extension EntityTags {
  /// Reads the condition of a write from `If-Match` and `If-None-Match: *`.
  /// - Parameter strong: whether weak tags must not match.
  /// - Parameter matches: makes the condition that one of these tags is present.
  /// - Throws: ``Problem`` 400 for an invalid field.
  static func condition<Condition>(
    of call: Call, strong: Bool, none: Condition, exists: Condition, absent: Condition,
    matches: ([String]) -> Condition
  ) throws(Problem) -> Condition {
    let unwanted = try EntityTags(call, .ifNoneMatch, strong: false)
    if let unwanted, !unwanted.isAny {
      throw Problem.invalidHeader("If-None-Match must be * on a write")
    }
    guard let wanted = try EntityTags(call, .ifMatch, strong: strong) else {
      return unwanted == nil ? none : absent
    }
    // Nothing is there and is not: both together match no state (RFC 9110, section 13.2.2).
    guard unwanted == nil else { return matches([]) }
    return wanted.isAny ? exists : matches(wanted.tags)
  }
}

extension RevisionCondition {
  /// Reads `If-Match` and `If-None-Match: *`.
  /// - Throws: ``Problem`` 400 for an invalid field.
  init(_ call: Call) throws(Problem) {
    self = try EntityTags.condition(
      of: call, strong: true, none: .none, exists: .exists, absent: .absent
    ) { tags in .matches(tags.compactMap { try? RevisionID($0) }) }
  }
}
