import CouchQuery
import Documents
import TestSupport
import Testing

struct JSONCollationLawTests {
  @Test(arguments: 1...4)
  func keysOrderAsArraysOfValuesDo(seed: UInt64) throws {
    var random = JSONCollationRandom(seed: seed)
    let count = repetitions(500, nightly: 1_500)
    var equal = 0
    for _ in 0..<count {
      let (one, other) = (try values(&random), try values(&random))
      let order = JSONCollation.compare(try array(one), try array(other))
      let (key, next) = (JSONCollation.key(one), JSONCollation.key(other))
      #expect((order == 0) == (key == next), "\(text(one)) \(text(other))")
      #expect((order < 0) == key.lexicographicallyPrecedes(next), "\(text(one)) \(text(other))")
      if order == 0 { equal += 1 }
    }
    #expect(equal > count / 200)
  }

  @Test func orderIsTotal() throws {
    var random = JSONCollationRandom(seed: 5)
    let values = try (0..<250).map { _ in try node(random.value(depth: 2)) }
      .sorted { JSONCollation.compare($0, $1) < 0 }
    for (index, value) in values.enumerated() {
      for later in values[index...] {
        let (order, back) = (
          JSONCollation.compare(value, later), JSONCollation.compare(later, value)
        )
        #expect(order <= 0 && back >= 0 && (order == 0) == (back == 0))
      }
    }
  }

  @Test func equalityIsWhatTheOrderFindsEqual() throws {
    var random = JSONCollationRandom(seed: 6)
    for _ in 0..<repetitions(1_000, nightly: 3_000) {
      let (one, other) = (random.value(depth: 2), random.value(depth: 2))
      let isEqual = try JSONCollation.compare(node(one), node(other)) == 0
      #expect(try selects(["f": ["$eq": one]], ["f": other]) == isEqual)
      #expect(try selects(["f": ["$ne": one]], ["f": other]) != isEqual)
    }
  }

  @Test func keyOfTheFirstValuesIsABeginning() throws {
    var random = JSONCollationRandom(seed: 7)
    for _ in 0..<repetitions(700, nightly: 2_000) {
      let (first, second) = (try node(random.value()), try node(random.value()))
      let other = try node(random.value())
      let key = JSONCollation.key([first])
      let longer = JSONCollation.key([first, second])
      #expect(longer.starts(with: key) && longer.count > key.count)
      let end = try #require(JSONCollation.successor(key))
      #expect(longer.lexicographicallyPrecedes(end))
      let stranger = JSONCollation.key([other, second])
      switch JSONCollation.compare(other, first) {
      case 0: #expect(stranger.starts(with: key))
      case ..<0: #expect(stranger.lexicographicallyPrecedes(key))
      default: #expect(!stranger.lexicographicallyPrecedes(end))
      }
    }
  }

  private func values(_ random: inout JSONCollationRandom) throws -> [JSONNode] {
    try (0..<random.below(3)).map { _ in try node(random.value(depth: 2)) }
  }

  private func array(_ values: [JSONNode]) throws -> JSONNode {
    try node(.array(values.map(\.value)))
  }

  private func text(_ values: [JSONNode]) -> String {
    String(decoding: JSONValue.array(values.map(\.value)).bytes, as: UTF8.self)
  }
}
