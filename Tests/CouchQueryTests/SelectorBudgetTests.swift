import CouchQuery
import Documents
import Stores
import TestSupport
import Testing

struct SelectorBudgetTests {
  /// A match may begin at each position of the text and have any length. RE2's automaton stores all of them.
  private static let worst = #"{"x":{"$regex":"(a|b)*a(a|b){200}c"}}"#

  /// A text for which the automaton of such a pattern changes its state at nearly every position.
  private func text(_ count: Int) -> String {
    var (random, text) = (UInt64(88_172_645_463_325_252), "")
    for _ in 0..<count {
      random ^= random << 13
      random ^= random >> 7
      random ^= random << 17
      text += random & 1 == 0 ? "a" : "b"
    }
    return text
  }

  @Test(.bug(id: "J12")) func catastrophicPatternIsSoonAnswered() throws {
    let selector = try Selector(json(#"{"x":{"$regex":"(a+)+$"}}"#))
    let document = try node(["x": .string(String(repeating: "a", count: 400_000) + "!")])
    var budget = SelectorBudget(total: .seconds(600), patternLimit: .seconds(600))
    #expect(!selector.matches(document, &budget) && !budget.isSpent)
  }

  @Test(.bug(id: "J12")) func patternThatTakesLongInOneTextSpendsTheBudget() throws {
    let selector = try Selector(json(Self.worst))
    var budget = SelectorBudget(patternLimit: .milliseconds(1))
    _ = selector.matches(try node(["x": .string(text(400_000))]), &budget)
    #expect(budget.isSpent)
    let spent = SelectorBudget.spent
    #expect(spent.code == .selectorTooCostly)
  }

  @Test func budgetIsForTheWholeQuery() throws {
    let selector = try Selector(json(Self.worst))
    let document = try node(["x": .string(text(700))])
    var (total, count) = (Duration.milliseconds(1), 0)
    // Some total is enough for several documents and not for any number, however fast the machine is.
    while count < 2 {
      total *= 2
      count = 0
      var budget = SelectorBudget(total: total, patternLimit: .seconds(600))
      while !budget.isSpent {
        _ = selector.matches(document, &budget)
        count += 1
      }
    }
    #expect(total < .seconds(600))
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

  @Test func longListIsLookedUpInFewSteps() async throws {
    let list = JSONValue.array((0..<10_000).map { .string("hotel \($0)") })
    let selector = try await Selector(node(["x": ["$in": list]])).prepared()
    var budget = SelectorBudget(total: .seconds(60))
    for number in 0..<1_000 {
      let isIn = selector.matches(try node(["x": .string("hotel \(number * 20)")]), &budget)
      #expect(isIn == (number * 20 < 10_000))
    }
    #expect(!budget.isSpent)
  }

  @Test(arguments: ["$in", "$nin", "$all"])
  func listIsTheSameWhoeverPutsItInOrder(name: String) async throws {
    let values = (0..<100).map { JSONValue.number(JSONNumber($0 * 37 % 50)) }
    for clause in [[name: .array(values)], ["$not": [name: .array(values)]]] as [JSONValue] {
      let selector = try Selector(node(["$or": [["x": clause], ["y": ["$elemMatch": clause]]]]))
      let prepared = try await selector.prepared()
      var budget = SelectorBudget(total: .seconds(60))
      for number in 45..<55 {
        let numbers = JSONValue.array((0..<number).map { .number(JSONNumber($0)) })
        for document in [["x": .number(JSONNumber(number))], ["x": numbers], ["y": [numbers]]]
          as [JSONValue]
        {
          let (one, other) = (
            selector.matches(try node(document), &budget),
            prepared.matches(try node(document), &budget)
          )
          #expect(one == other)
        }
      }
      #expect(selector.json == prepared.json)
    }
  }
}
