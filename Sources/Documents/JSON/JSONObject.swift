/// An object: ordered members, each with a name that occurs once, compared by UTF-8 bytes.
///
/// Two objects are equal if they have the same members in any order, because RFC 8259 section 4 calls an object
/// unordered. Looking up a name takes linear time.
package struct JSONObject: Sendable {
  package typealias Member = (name: String, value: JSONValue)

  /// The members in their order.
  package private(set) var members: [Member] = []

  /// An object without members.
  package init() {}

  /// Makes an object of these members. When a name occurs twice, the last value takes the place of the first.
  package init(_ members: some Sequence<(String, JSONValue)>) {
    for (name, value) in members { append(name, value) }
  }

  /// Makes an object of parsed members; the parser has checked that their names differ.
  init(checked members: JSONMembers) {
    for member in members { self.members.append((member.name, member.value.value)) }
  }

  package var count: Int { members.count }

  package var isEmpty: Bool { members.isEmpty }

  /// The value of the member whose name has these UTF-8 bytes. Setting nil removes the member; setting a value replaces
  /// the present one at its position, or appends a member.
  package subscript(name: String) -> JSONValue? {
    get { index(of: name).map { members[$0].value } }
    set {
      switch (index(of: name), newValue) {
      case (let index?, let value?): members[index].value = value
      case (let index?, nil): members.remove(at: index)
      case (nil, let value?): members.append((name, value))
      case (nil, nil): break
      }
    }
  }

  /// Appends a member; when there is one of that name, replaces its value at its position.
  package mutating func append(_ name: String, _ value: JSONValue) { self[name] = value }

  /// Sorts the members by the UTF-8 bytes of their names.
  mutating func sort() { members.sort { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) } }

  private func index(of name: String) -> Int? {
    members.firstIndex { JSONBytes.same($0.name, name) }
  }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
  /// Makes an object; when a name occurs twice, the last value wins.
  package init(dictionaryLiteral elements: (String, JSONValue)...) { self.init(elements) }
}

extension JSONObject: Equatable {
  /// Whether both objects have the same members, in any order.
  package static func == (one: JSONObject, other: JSONObject) -> Bool {
    guard one.count == other.count else { return false }
    if one.isSame(as: other) { return true }
    var sorted = (one, other)
    sorted.0.sort()
    sorted.1.sort()
    return sorted.0.isSame(as: sorted.1)
  }

  private func isSame(as other: JSONObject) -> Bool {
    zip(members, other.members).allSatisfy {
      JSONBytes.same($0.name, $1.name) && $0.value == $1.value
    }
  }
}
