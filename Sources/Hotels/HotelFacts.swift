package import Documents
package import JSON

/// The rule that brings an upstream's newer facts into a bookmarked hotel without touching what the person
/// made of it: a three-way merge, member by member, against the facts as they were.
package enum HotelFacts {
  /// The hotel's body with newer facts; nil when nothing would change.
  ///
  /// A member that is as it was before takes the upstream's value; one that the person changed, added or
  /// removed stays so. `id`, `type`, `bookmarked` and members whose names start with `_` are never facts.
  /// - Parameter stored: the bookmark's body.
  /// - Parameter former: the hotel as the upstream described it before.
  /// - Parameter facts: the hotel as the upstream describes it now.
  /// - Returns: nil also where a text is no object, which only a damaged one is.
  package static func merged(
    into stored: [UInt8], former: [UInt8], facts: [UInt8]
  ) -> DocumentBody? {
    guard let stored = object(stored), let facts = object(facts),
      let before = object(former)
    else { return nil }
    var bytes = [UInt8(ascii: "{")]
    for member in stored.members {
      let name = member.name
      let isFact = isFact(name) && isEqual(member.value, before[name])
      if isFact, let newer = facts[name] {
        append(member.rawName, newer, to: &bytes)
      } else if !isFact {
        append(member.rawName, member.value, to: &bytes)
      }
    }
    for member in facts.members
    where isFact(member.name) && stored[member.name] == nil && before[member.name] == nil {
      append(member.rawName, member.value, to: &bytes)
    }
    bytes.append(UInt8(ascii: "}"))
    guard let merged = try? DocumentBody(parsing: bytes), let old = try? DocumentBody(stored),
      merged.digest != old.digest
    else { return nil }
    return merged
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
    guard let other else { return false }
    return value.canonical == other.canonical
  }

  private static func append(
    _ rawName: some Sequence<UInt8>, _ value: JSONNode, to bytes: inout [UInt8]
  ) {
    if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
    bytes += rawName
    bytes.append(UInt8(ascii: ":"))
    value.appendMinified(to: &bytes)
  }
}

/// Which members of a hotel are documented, and what each may be. Any other member may be anything.
///
/// What apps are generated from (`openapi.yaml`) has the same list, so what a person sends must fit; of what an
/// upstream says, a member that does not fit is left out.
package enum HotelShape {
  /// What a member may be.
  enum Kind {
    /// A string or null.
    case text
    /// An array of strings, or null.
    case texts
    /// An object whose `lat` and `lon` are numbers where they are there, or null.
    case position
    /// `true` or `false`.
    case flag

    /// What it is, for a client.
    var words: String {
      switch self {
      case .text: "a string or null"
      case .texts: "an array of strings, or null"
      case .position: "an object whose lat and lon are numbers, or null"
      case .flag: "true or false"
      }
    }

    func fits(_ value: JSONNode) -> Bool {
      if self == .flag { return value.bool != nil }
      if value.isNull { return true }
      switch self {
      case .text: return value.kind == .string
      case .texts: return value.kind == .array && value.elements.allSatisfy { $0.kind == .string }
      case .position:
        return value.kind == .object
          && ["lat", "lon"].allSatisfy { value[$0].map { $0.kind == .number } ?? true }
      case .flag: return false
      }
    }
  }

  /// The documented members beside the id and `type`.
  static let members: [(name: String, kind: Kind)] = [
    ("name", .text), ("title", .text), ("description", .text), ("address", .text),
    ("city", .text), ("state", .text), ("country", .text), ("phone", .text), ("url", .text),
    ("amenities", .texts), ("geo", .position), ("bookmarked", .flag),
  ]

  /// What is wrong with a hotel's documented members, as a sentence that says what to change; nil for nothing.
  static func fault(in hotel: JSONNode) -> String? {
    for member in hotel.members {
      guard let kind = kind(of: member), !kind.fits(member.value) else { continue }
      return "A hotel's \(member.name) must be \(kind.words)"
    }
    return nil
  }

  /// Whether a hotel says more than which one it is.
  package static func hasFacts(_ hotel: JSONNode) -> Bool {
    hotel.members.contains { member in
      !idNames.contains { member.nameEquals($0) }
        && !["type", "bookmarked"].contains { member.nameEquals($0) }
    }
  }

  /// Whether a hotel says which one it is.
  static func hasID(_ hotel: JSONNode) -> Bool {
    idNames.contains { hotel[$0] != nil }
  }

  /// Whether a member is documented and is something else than that.
  static func isMisfit(_ member: JSONMember) -> Bool {
    kind(of: member).map { !$0.fits(member.value) } ?? false
  }

  /// The members that may say which hotel it is, the first one first.
  static let idNames = ["_id", "id", "docid"]

  private static func kind(of member: JSONMember) -> Kind? {
    members.first { member.nameEquals($0.name) }?.kind
  }
}
