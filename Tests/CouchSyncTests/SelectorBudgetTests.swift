import CouchSync
import Documents
import Testing

struct SelectorBudgetTests {
  @Test func j12CatastrophicPatternSpendsTheBudget() throws {
    let selector = try Selector(json(#"{"x":{"$regex":"(a+)+$"}}"#))
    let document = try node(["x": .string(String(repeating: "a", count: 40) + "!")])
    var budget = SelectorBudget()
    let start = ContinuousClock.now
    _ = selector.matches(document, &budget)
    #expect(budget.isSpent)
    #expect(start.duration(to: .now) < .seconds(60))
    let spent = SelectorBudget.spent
    #expect(spent.status == 400 && spent.error == "selector_too_costly")
  }

  @Test func budgetIsForTheWholeQuery() throws {
    let selector = try Selector(json(#"{"x":{"$regex":"(a+)+$"}}"#))
    let document = try node(["x": .string(String(repeating: "a", count: 17) + "!")])
    var budget = SelectorBudget(total: .milliseconds(30), patternLimit: .seconds(600))
    var count = 0
    while !budget.isSpent, count < 100_000 {
      _ = selector.matches(document, &budget)
      count += 1
    }
    #expect(budget.isSpent)
  }

  @Test func manyComparisonsSpendTheBudget() throws {
    let selector = try Selector(json(#"{"x":{"$elemMatch":{"$elemMatch":{"$gt":"b"}}}}"#))
    let row = JSONValue.array([JSONValue](repeating: "a", count: 300))
    let document = try node(["x": .array([JSONValue](repeating: row, count: 300))])
    var small = SelectorBudget(total: .milliseconds(1))
    _ = selector.matches(document, &small)
    #expect(small.isSpent)
    var large = SelectorBudget(total: .seconds(600))
    #expect(!selector.matches(document, &large) && !large.isSpent)
  }

  @Test func budgetThatIsSpentStaysSpent() throws {
    let selector = try Selector(json(#"{"x":1}"#))
    var budget = SelectorBudget(total: .zero)
    _ = selector.matches(try json(#"{"x":1}"#), &budget)
    #expect(budget.isSpent)
    _ = selector.matches(try json(#"{"x":1}"#), &budget)
    #expect(budget.isSpent)
  }

  @Test func longListIsLookedUpInFewSteps() throws {
    let list = JSONValue.array((0..<10_000).map { .string("hotel \($0)") })
    let selector = try Selector(node(["x": ["$in": list]]))
    var budget = SelectorBudget(total: .seconds(60))
    for number in 0..<1_000 {
      let isIn = selector.matches(try node(["x": .string("hotel \(number * 20)")]), &budget)
      #expect(isIn == (number * 20 < 10_000))
    }
    #expect(!budget.isSpent)
  }
}
