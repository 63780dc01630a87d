package import Documents

/// Reproducible random selectors and documents on the fields `_id`, `a`, `b` and `a.b`.
package struct SelectorRandom {
  private var random: JSONCollationRandom

  /// The same seed gives the same values.
  package init(seed: UInt64) {
    random = JSONCollationRandom(seed: seed)
  }

  /// A document. If `whole`, it has all of the fields; otherwise any of them.
  package mutating func document(whole: Bool) -> JSONValue {
    var document = JSONObject()
    document["_id"] = .string("i" + random.text())
    if whole || random.below(4) > 0 {
      var inner = JSONObject()
      inner["b"] = random.value(depth: 2)
      document["a"] = whole || random.below(2) > 0 ? .object(inner) : random.value(depth: 2)
    }
    if whole || random.below(4) > 0 { document["b"] = random.value(depth: 2) }
    return .object(document)
  }

  /// A selector whose lists are not empty.
  package mutating func selector(depth: Int = 3) -> JSONValue {
    switch random.below(depth > 0 ? 9 : 5) {
    case 0...3: return [random.one(of: ["_id", "a", "b", "a.b"]): condition(depth: depth)]
    case 4: return ["a": ["b": condition(depth: depth)]]
    case 5: return ["$not": selector(depth: depth - 1)]
    case 6: return ["$and": selectors(depth)]
    case 7: return ["$or": selectors(depth)]
    default: return ["$nor": selectors(depth)]
    }
  }

  private mutating func selectors(_ depth: Int) -> JSONValue {
    .array((0...random.below(3)).map { _ in selector(depth: depth - 1) })
  }

  private mutating func condition(depth: Int) -> JSONValue {
    if random.below(5) == 0 {
      // Two conditions make an implied `$and`.
      return ["$gte": random.value(depth: 1), "$lt": random.value(depth: 1)]
    }
    let comparison = random.one(of: ["$lt", "$lte", "$eq", "$ne", "$gte", "$gt"])
    switch random.below(depth > 0 ? 15 : 9) {
    case 0...3: return [comparison: random.value(depth: 2)]
    case 4: return [random.one(of: ["$in", "$nin", "$all"]): .array(values())]
    case 5:
      return ["$type": .string(random.one(of: ["null", "boolean", "number", "string", "array"]))]
    case 6: return ["$beginsWith": .string(random.text())]
    case 7: return ["$regex": .string(random.one(of: ["a", "^a", "b$", "[0-9]", "^$"]))]
    case 8: return ["$size": .number(JSONNumber(random.below(3)))]
    case 9: return ["$mod": [.number(JSONNumber(random.below(3) + 1)), 0]]
    case 10: return ["$exists": .bool(.random(using: &random))]
    case 11, 12:
      return [random.one(of: ["$elemMatch", "$allMatch"]): condition(depth: depth - 1)]
    case 13: return ["$keyMapMatch": condition(depth: 0)]
    default: return ["$not": condition(depth: depth - 1)]
    }
  }

  private mutating func values() -> [JSONValue] {
    (0..<random.below(4)).map { _ in random.value(depth: 1) }
  }

  /// Any JSON with operators and fields as names. It is seldom a valid selector.
  package mutating func nonsense(depth: Int = 5) -> JSONValue {
    guard depth > 0, random.below(4) > 0 else { return random.value(depth: 1) }
    if random.below(4) == 0 {
      return .array((0..<random.below(4)).map { _ in nonsense(depth: depth - 1) })
    }
    var object = JSONObject()
    for _ in 0..<random.below(3) {
      object[random.one(of: Self.names)] = nonsense(depth: depth - 1)
    }
    return .object(object)
  }

  private static let names = [
    "$eq", "$ne", "$lt", "$lte", "$gt", "$gte", "$exists", "$type", "$in", "$nin", "$and", "$or",
    "$not", "$nor", "$all", "$elemMatch", "$allMatch", "$keyMapMatch", "$size", "$mod", "$regex",
    "$beginsWith", "$", "$text", "$default", "", "a", "b", "a.b", "_id", "a.0", "\\$a", "a\\", "é",
  ]
}
