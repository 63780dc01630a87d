import SQLite
import Testing

@Suite struct InterruptionTests {
  /// Runs a statement that ends only when it is interrupted.
  private func runForEver(_ connection: Connection) throws {
    try connection.statement(
      "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"
    ).run()
  }

  private func code(_ body: () throws -> Void) -> SQLiteError.Code? {
    do { try body() } catch { return (error as? SQLiteError)?.code }
    return nil
  }

  @Test func statementEndsAtItsTime() throws {
    let connection = try Connection.withItems()
    let end = ContinuousClock.now + .milliseconds(20)
    let ended = code {
      try connection.bounded(until: end, or: InterruptionFlag()) {
        try runForEver(connection)
      }
    }
    #expect(ended == .interrupted)
    #expect(try connection.statement("SELECT 7").first { row in row.int64(0) } == 7)
  }

  @Test func statementEndsWhenTheFlagIsRaisedElsewhere() async throws {
    let flag = InterruptionFlag()
    let running = Task.detached {
      let connection = try Connection.inMemory()
      let end = ContinuousClock.now + .seconds(600)
      try connection.bounded(until: end, or: flag) {
        try runForEver(connection)
      }
    }
    try await Task.sleep(for: .milliseconds(20))
    flag.raise()
    let error = await #expect(throws: SQLiteError.self) { try await running.value }
    #expect(error?.code == .interrupted)
  }

  @Test func nothingBeginsBehindItsEnd() throws {
    let connection = try Connection.inMemory()
    let flag = InterruptionFlag()
    flag.raise()
    var hasBegun = false
    let later = ContinuousClock.now + .seconds(600)
    for (end, flag) in [(later, flag), (ContinuousClock.now, InterruptionFlag())] {
      let ended = code {
        try connection.bounded(until: end, or: flag) { hasBegun = true }
      }
      #expect(ended == .interrupted && !hasBegun)
    }
  }
}
