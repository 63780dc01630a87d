import Documents

@testable import CouchQuery
@testable import CouchSync

/// Selectors: the first line is a selector, the other lines are documents.
enum SelectorFuzzing {
  private static let limits = JSONLimits(maximumBytes: 2_048, maximumDepth: 24)

  static func check(_ bytes: [UInt8]) {
    let lines = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 3)
    let nodes = lines.compactMap { line in
      attempt { try ParsedJSON(Array(line), limits: limits).root }
    }
    checkOrder(nodes)
    guard let first = nodes.first, let selector = attempt({ try Selector(first) }) else { return }
    let shown = checkShown(selector)
    for document in nodes.dropFirst() where document.kind == .object {
      checkMatch(selector, shown, document)
    }
  }

  /// The selector that `_explain` shows is equivalent.
  private static func checkShown(_ selector: Selector) -> Selector? {
    let json = selector.json
    let again = attempt { try Selector(ParsedJSON(json.bytes, limits: .request).root) }
    // The shown selector joins the names of nested fields. The result may exceed the limit on a path's length.
    guard let again else { return nil }
    claim(again.json.bytes == json.bytes, "a shown selector shows itself")
    return again
  }

  private static func checkMatch(_ selector: Selector, _ shown: Selector?, _ document: JSONNode) {
    var (budget, other) = (SelectorBudget(), SelectorBudget())
    let matches = selector.matches(document, &budget)
    if let shown {
      let same = shown.matches(document, &other) == matches
      claim(same || budget.isSpent || other.isSpent, "the shown selector matches the same")
    }
    guard matches, !budget.isSpent else { return }
    for name in ["_id", "a", "b", "a.b", "name"] {
      guard let field = attempt({ try FieldPath(name) }) else { continue }
      let value = field.value(in: document)
      // Every stored document has an id, and it is a string.
      if name == "_id", value?.string == nil { continue }
      // A query with an empty list alone returns nothing, although every document matches.
      let isThere = value != nil || selector.isEmptyList
      claim(!selector.requires(field) || isThere, "a required field is there")
      guard let bounds = selector.bounds(of: field) else { continue }
      guard let value else {
        claim(false, "a bounded field is there")
        return
      }
      claim(lies(value, within: bounds, byBytes: name == "_id"), "a value within its bounds")
    }
  }

  private static func lies(_ value: JSONNode, within bounds: FieldBounds, byBytes: Bool) -> Bool {
    func compare(_ other: JSONNode) -> Int {
      byBytes ? JSONCollation.compareByBytes(value, other) : JSONCollation.compare(value, other)
    }
    let low = bounds.lower.map(compare) ?? 1
    let high = bounds.upper.map(compare) ?? -1
    return (low > 0 || low == 0 && bounds.includesLower)
      && (high < 0 || high == 0 && bounds.includesUpper)
  }

  /// The order of values is a total order, and their keys have the same order.
  private static func checkOrder(_ nodes: [JSONNode]) {
    func sign(_ order: Int) -> Int { order.signum() }
    let keys = nodes.map { JSONCollation.key([$0]) }
    for (one, left) in nodes.enumerated() {
      claim(JSONCollation.compare(left, left) == 0, "a value is itself")
      for (other, right) in nodes.enumerated() {
        let order = sign(JSONCollation.compare(left, right))
        claim(order == -sign(JSONCollation.compare(right, left)), "an order both ways")
        let byKeys =
          keys[one] == keys[other] ? 0 : keys[one].lexicographicallyPrecedes(keys[other]) ? -1 : 1
        claim(byKeys == order, "keys order as their values")
        if JSONCollation.areEqual(left, right) { claim(order == 0, "equal values have one place") }
        for third in nodes where order <= 0 && JSONCollation.compare(right, third) <= 0 {
          claim(JSONCollation.compare(left, third) <= 0, "a transitive order")
        }
      }
    }
  }
}
