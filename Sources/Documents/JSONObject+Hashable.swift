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
