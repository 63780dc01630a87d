package import Documents

/// The rule that brings an upstream's newer facts into a bookmarked hotel and keeps the person's changes: a
/// three-way merge, member by member, against the former facts.
package enum HotelFacts {
  /// The hotel's body with newer facts; nil when nothing would change.
  ///
  /// A member that is unchanged since the former facts takes the upstream's value. A member that the person
  /// changed, added or removed keeps the person's version. A number in another spelling is no change: an app may have
  /// written the whole hotel again. `id`, `type`, `bookmarked` and members whose names start with `_` are never facts.
  /// - Parameter stored: the bookmark's body.
  /// - Parameter former: the hotel as the upstream described it before.
  /// - Parameter facts: the hotel as the upstream describes it now.
  /// - Returns: nil also when one of the texts is not a JSON object, which happens only to a damaged one.
  package static func merged(
    into stored: [UInt8], former: [UInt8], facts: [UInt8]
  ) -> DocumentBody? {
    guard let stored = object(stored), let facts = object(facts),
      let before = object(former)
    else { return nil }
    let (own, former, news) = (Members(stored), Members(before), Members(facts))
    let bytes = JSONWriter.object { writer in
      for member in stored.members {
        let name = member.name
        let isFact = isFact(name) && isEqual(member.value, former[name])
        if isFact, let newer = news[name] {
          writer.member(member, newer)
        } else if !isFact {
          writer.member(member)
        }
      }
      for member in facts.members
      where isFact(member.name) && own[member.name] == nil && former[member.name] == nil {
        writer.member(member)
      }
    }
    guard let merged = try? DocumentBody(parsing: bytes), let old = try? DocumentBody(stored),
      !merged.hasSameValue(as: old)
    else { return nil }
    return merged
  }

  /// Whether a member that two hotels have both differs.
  static func differ(_ one: [UInt8], _ other: [UInt8]) -> Bool {
    guard let one = object(one), let other = object(other) else { return true }
    let values = Members(other)
    return one.members.contains { member in
      isFact(member.name) && values[member.name].map { !member.value.hasSameValue(as: $0) } == true
    }
  }

  /// The members of an object by name, so that two objects with many members are compared in linear time.
  private struct Members {
    private let values: [MemberName: JSONNode]

    init(_ object: JSONNode) {
      values = Dictionary(
        object.members.map { (MemberName(text: $0.name), $0.value) }, uniquingKeysWith: { $1 })
    }

    subscript(name: String) -> JSONNode? { values[MemberName(text: name)] }
  }

  private struct MemberName: ByteString {
    let text: String
  }

  private static func object(_ bytes: [UInt8]) -> JSONNode? {
    guard let root = try? ParsedJSON(bytes, limits: .request).root, root.kind == .object else {
      return nil
    }
    return root
  }

  private static func isFact(_ name: String) -> Bool {
    !["id", "type", "bookmarked"].contains { name.equalsBytes(of: $0) }
      && name.utf8.first != UInt8(ascii: "_")
  }

  private static func isEqual(_ value: JSONNode, _ other: JSONNode?) -> Bool {
    other.map(value.hasSameValue) ?? false
  }
}

/// The documented members of a hotel, and the kind of value of each. Any other member may have any value.
///
/// `openapi.yaml`, from which clients are generated, has the same list. A hotel from a client must therefore fit
/// it. Members of an upstream's hotel that do not fit are left out.
package enum HotelShape {
  /// What a member may be.
  enum Kind {
    /// A string or null.
    case text
    /// An array of strings, or null.
    case texts
    /// An object, or null. Its `lat` and `lon`, if present, are numbers.
    case position
    /// `true` or `false`.
    case flag

    /// The description for a client's error message.
    var expectation: String {
      switch self {
      case .text: "a string or null"
      case .texts: "an array of strings, or null"
      case .position: "an object whose lat and lon are numbers, or null"
      case .flag: "true or false"
      }
    }

    func fits(_ value: JSONNode) -> Bool {
      if value.isNull { return self != .flag }
      switch self {
      case .text: return value.kind == .string
      case .texts: return value.kind == .array && value.elements.allSatisfy { $0.kind == .string }
      case .position:
        return value.kind == .object
          && ["lat", "lon"].allSatisfy { value[$0].map { $0.kind == .number } ?? true }
      case .flag: return value.bool != nil
      }
    }
  }

  /// The documented members, without the id and `type`.
  static let members: [(name: String, kind: Kind)] = [
    ("name", .text), ("title", .text), ("description", .text), ("address", .text),
    ("city", .text), ("state", .text), ("country", .text), ("phone", .text), ("url", .text),
    ("amenities", .texts), ("geo", .position), ("bookmarked", .flag),
  ]

  /// A sentence that says which documented member is wrong and what it must be; nil when all fit.
  static func fault(in hotel: JSONNode) -> String? {
    for member in hotel.members {
      guard let kind = kind(of: member), !kind.fits(member.value) else { continue }
      return "A hotel's \(member.name) must be \(kind.expectation)"
    }
    return nil
  }

  /// Whether a hotel has members other than its id, `type` and `bookmarked`.
  package static func hasFacts(_ hotel: JSONNode) -> Bool {
    hotel.members.contains { member in
      !idNames.contains { member.nameEquals($0) }
        && !["type", "bookmarked"].contains { member.nameEquals($0) }
    }
  }

  /// Whether a hotel has an id.
  static func hasID(_ hotel: JSONNode) -> Bool { idNames.contains { hotel[$0] != nil } }

  /// Whether a member is documented and its value does not fit.
  static func isMisfit(_ member: JSONMember) -> Bool {
    kind(of: member).map { !$0.fits(member.value) } ?? false
  }

  /// The members that may hold the hotel's id, in the order in which they are tried.
  static let idNames = ["_id", "id", "docid"]

  private static func kind(of member: JSONMember) -> Kind? {
    members.first { member.nameEquals($0.name) }?.kind
  }
}
