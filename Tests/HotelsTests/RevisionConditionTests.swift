import Documents
import Hotels
import Stores
import Testing

@Suite struct RevisionConditionTests {
  @Test func conditionsHoldAsTheyShould() throws {
    let (one, two) = (try RevisionID("1-a"), try RevisionID("2-b"))
    try RevisionCondition.none.check(nil)
    try RevisionCondition.none.check(one)
    try RevisionCondition.matches([two, one]).check(one)
    try RevisionCondition.exists.check(one)
    try RevisionCondition.absent.check(nil)
    let failing: [(RevisionCondition, RevisionID?)] = [
      (.matches([two]), one), (.matches([two]), nil), (.matches([]), one), (.exists, nil),
      (.absent, one),
    ]
    for (condition, present) in failing {
      let error = #expect(throws: ServiceError.self) { try condition.check(present) }
      #expect(error?.code == .precondition)
    }
  }
}
