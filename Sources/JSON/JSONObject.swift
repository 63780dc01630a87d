/// An object: members in an order, each name once by its UTF-8 bytes.
///
/// Two objects are equal if they have the same members in any order, as RFC 8259 section 4 calls
/// them unordered. A look-up passes over the members in turn.
package struct JSONObject: Sendable {
  /// A name and its value.
  package typealias Member = (name: String, value: JSONValue)

  /// The members in their order.
  package private(set) var members: [Member] = []

  /// An object without members.
  package init() {}

  /// An object of these members; of a name that occurs twice, the last value stays at the first
  /// place.
  package init(_ members: some Sequence<(String, JSONValue)>) {
    for (name, value) in members {
      append(name, value)
    }
  }

  /// The members of a text, whose names the parser has found different.
  init(checked members: JSONMembers) {
    for member in members {
      self.members.append((member.name, member.value.value))
    }
  }

  /// The number of members.
  package var count: Int {
    members.count
  }

  /// Whether there are no members.
  package var isEmpty: Bool {
    members.isEmpty
  }

  /// The value of a member by the UTF-8 bytes of its name. Setting `nil` removes the member;
  /// setting a value replaces it in its place or appends it.
  package subscript(name: String) -> JSONValue? {
    get {
      place(of: name).map { members[$0].value }
    }
    set {
      switch (place(of: name), newValue) {
      case (let place?, let value?): members[place].value = value
      case (let place?, nil): members.remove(at: place)
      case (nil, let value?): members.append((name, value))
      case (nil, nil): break
      }
    }
  }

  /// Adds a member at the end; if there is one of that name, its value is replaced in its place.
  package mutating func append(_ name: String, _ value: JSONValue) {
    self[name] = value
  }

  /// Puts the members in the order of the UTF-8 bytes of their names.
  mutating func sort() {
    members.sort { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
  }

  private func place(of name: String) -> Int? {
    members.firstIndex { JSONBytes.same($0.name, name) }
  }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
  /// An object; of a name that occurs twice, the last value stays.
  package init(dictionaryLiteral elements: (String, JSONValue)...) {
    self.init(elements)
  }
}

extension JSONObject: Hashable {
  /// Whether both have the same members, in any order.
  package static func == (one: JSONObject, other: JSONObject) -> Bool {
    guard one.count == other.count else { return false }
    if one.isSame(as: other) { return true }
    var sorted = (one, other)
    sorted.0.sort()
    sorted.1.sort()
    return sorted.0.isSame(as: sorted.1)
  }

  /// Feeds the members so that their order does not count.
  package func hash(into hasher: inout Hasher) {
    var sum = 0
    for (name, value) in members {
      var one = Hasher()
      JSONBytes.hash(name, into: &one)
      one.combine(value)
      sum &+= one.finalize()
    }
    hasher.combine(count)
    hasher.combine(sum)
  }

  private func isSame(as other: JSONObject) -> Bool {
    zip(members, other.members).allSatisfy {
      JSONBytes.same($0.name, $1.name) && $0.value == $1.value
    }
  }
}
