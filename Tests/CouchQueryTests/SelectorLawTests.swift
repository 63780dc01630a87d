import CouchQuery
import Documents
import Stores
import TestSupport
import Testing

struct SelectorLawTests {
  /// If all fields exist and no list is empty, `$not` is the exact opposite.
  @Test(arguments: 1...3)
  func notIsTheOppositeWhereTheFieldsAreThere(seed: UInt64) throws {
    var random = SelectorRandom(seed: seed)
    let count = repetitions(500, nightly: 1_500)
    var matching = 0
    for _ in 0..<count {
      let (selector, document) = (random.selector(), random.document(whole: true))
      let matches = try selects(selector, document)
      #expect(try selects(["$not": selector], document) != matches, "\(text(selector))")
      #expect(try selects(["$nor": [selector]], document) != matches)
      #expect(try selects(["$not": ["$not": selector]], document) == matches)
      if matches { matching += 1 }
    }
    #expect((count / 8...count * 7 / 8).contains(matching))
  }

  /// A document never matches both a condition and its opposite, whether the field exists or not.
  @Test func conditionAndOppositeNeverHoldBoth() throws {
    var random = SelectorRandom(seed: 4)
    for _ in 0..<repetitions(500, nightly: 1_500) {
      let (selector, document) = (random.selector(depth: 0), random.document(whole: false))
      let both = try selects(["$and": [selector, ["$not": selector]]], document)
      #expect(!both, "\(text(selector)) \(text(document))")
    }
  }

  @Test(arguments: 5...8)
  func boundsAndRequiredFieldsAreSound(seed: UInt64) throws {
    var random = SelectorRandom(seed: seed)
    let fields = try ["_id", "a", "b", "a.b"].map { try FieldPath($0) }
    let count = repetitions(1_500, nightly: 5_000)
    var bounded = 0
    for _ in 0..<count {
      let selector = random.selector()
      let document = try node(random.document(whole: seed.isMultiple(of: 2)))
      let parsed = try Selector(node(selector))
      var budget = SelectorBudget()
      guard parsed.matches(document, &budget) else { continue }
      for field in fields {
        let value = field.value(in: document)
        if parsed.requires(field) { #expect(value != nil, "\(text(selector))") }
        guard let bounds = parsed.bounds(of: field) else { continue }
        bounded += 1
        let found = try #require(value, "\(text(selector))")
        #expect(
          lies(found, within: bounds, byBytes: field.text == "_id"),
          "\(text(selector)) \(text(document.value)) \(field.text)")
        if bounds.isEquality { #expect(!bounds.isEmpty) }
      }
    }
    #expect(bounded > count / 25)
  }

  @Test func whatIsShownIsTheSameSelector() throws {
    var random = SelectorRandom(seed: 9)
    for _ in 0..<repetitions(400, nightly: 1_000) {
      let selector = random.selector()
      let shown = try Selector(node(selector)).json
      #expect(try Selector(node(shown)).json.bytes == shown.bytes, "\(text(selector))")
      for _ in 0..<3 {
        let document = random.document(whole: false)
        #expect(try selects(selector, document) == selects(shown, document), "\(text(selector))")
      }
    }
  }

  @Test(.bug(id: "J12"), arguments: 10...13)
  func nonsenseIsRefusedOrTaken(seed: UInt64) throws {
    var random = SelectorRandom(seed: seed)
    let count = repetitions(1_000, nightly: 3_000)
    var taken = 0
    for _ in 0..<count {
      let nonsense = random.nonsense()
      let document = try node(random.document(whole: false))
      do {
        let selector = try Selector(node(nonsense))
        var budget = SelectorBudget()
        _ = selector.matches(document, &budget)
        _ = try selector.bounds(of: FieldPath("a"))?.isEmpty
        #expect(try Selector(node(selector.json)).json.bytes == selector.json.bytes)
        taken += 1
      } catch let error as ServiceError {
        let codes: [ServiceError.Code] = [
          .invalidArgument, .invalidFieldName, .invalidOperator, .invalidSelector,
          .invalidSelectorJSON, .notSupported,
        ]
        #expect(codes.contains(error.code), "\(error)")
      }
    }
    #expect(taken > count / 30)
  }

  private func lies(_ value: JSONNode, within bounds: FieldBounds, byBytes: Bool) -> Bool {
    func compare(_ other: JSONNode) -> Int {
      guard byBytes, let left = value.string, let right = other.string else {
        return JSONCollation.compare(value, other)
      }
      return left.equalsBytes(of: right) ? 0 : left.precedesBytes(of: right) ? -1 : 1
    }
    let low = bounds.lower.map(compare) ?? 1
    let high = bounds.upper.map(compare) ?? -1
    return (low > 0 || low == 0 && bounds.includesLower)
      && (high < 0 || high == 0 && bounds.includesUpper)
  }

  private func text(_ value: JSONValue) -> String {
    String(decoding: value.bytes, as: UTF8.self)
  }
}
