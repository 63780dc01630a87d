package import Documents

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
