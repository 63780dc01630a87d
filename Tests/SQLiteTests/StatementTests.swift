import SQLite
import Testing

@Suite struct StatementTests {
  @Test func cachedStatementIsReused() throws {
    let connection = try Connection.withItems()
    func find() throws -> Statement { try connection.statement("SELECT value FROM item") }
    let first = try find()
    #expect(try find() === first)
    #expect(try connection.statement("SELECT id FROM item") !== first)
  }

  @Test func failedPreparationIsNotCached() throws {
    let connection = try Connection.inMemory()
    func count() throws -> Int64? {
      try connection.statement("SELECT count(*) FROM item").first { row throws(SQLiteError) in
        row.int64(0)
      }
    }
    #expect(code { _ = try count() } == .other)
    try connection.makeItems()
    #expect(try count() == 0)
  }

  @Test func statementOfTwoLiteralsIsPreparedOnceForEachPair() throws {
    let connection = try Connection.inMemory()
    func number(_ head: StaticString) throws -> Statement { try connection.statement(head, "AS n") }
    let (one, two) = (try number("SELECT 1"), try number("SELECT 2"))
    #expect(try one.first { row in row.int64(0) } == 1)
    #expect(try two.first { row in row.int64(0) } == 2)
    #expect(try connection.statement("SELECT 1", "AS n") === one)
    #expect(throws: SQLiteError.self) { try connection.statement("SELECT 1", "FROM nowhere") }
  }

  @Test func statementSurvivesAChangeOfTheSchema() throws {
    let connection = try Connection.withItems()
    try connection.add("a")
    try connection.execute("ALTER TABLE item ADD COLUMN extra")
    try connection.add("b")
    #expect(try connection.ids() == ["a", "b"])
  }

  @Test func sqlIsExactlyOneStatement() throws {
    let connection = try Connection.inMemory()
    #expect(code { _ = try connection.statement("SELECT 1; SELECT 2") } == .misuse)
    #expect(code { _ = try connection.statement("") } == .misuse)
    #expect(code { _ = try connection.statement("-- nothing") } == .misuse)
    #expect(code { _ = try connection.statement("SELECT 1;\n ") } == nil)
  }

  @Test func sqlErrorSaysWhereInItsMessage() throws {
    let connection = try Connection.inMemory()
    do throws(SQLiteError) {
      _ = try connection.statement("SELEKT 1")
      Issue.record("a misspelt statement was prepared")
    } catch {
      #expect(error.message.contains("SELEKT"))
      #expect(error.debugDescription.contains("SELEKT"))
    }
  }

  @Test func statementIsResetAfterItsRowHandlerThrows() throws {
    let connection = try Connection.withItems()
    try connection.add("a")
    try connection.add("b")
    let statement = try connection.statement("SELECT id FROM item WHERE id >= ? ORDER BY id")
    let thrown = code {
      try statement.query(.text("a")) { _ throws(SQLiteError) in
        throw SQLiteError(.other, message: "enough")
      }
    }
    #expect(thrown == .other)
    // If the first query were still running, this one would fail with misuse or continue with the second row.
    let ids = try statement.all(.text("a")) { row throws(SQLiteError) in try row.string(0) }
    #expect(ids == ["a", "b"])
  }

  @Test func statementIsResetAfterAFailedStep() throws {
    let connection = try Connection.withItems()
    try connection.add("a")
    #expect(code { try connection.add("a") } == .constraint)
    try connection.add("b")
    #expect(try connection.ids() == ["a", "b"])
  }

  @Test func statementIsResetAfterAFailedBinding() throws {
    let connection = try Connection.withItems()
    let insertion = try connection.statement("INSERT INTO item VALUES (?, ?)")
    #expect(code { try insertion.run(.text("a"), .integer(1), .integer(2)) } == .misuse)
    try insertion.run(.text("b"))
    let isNull = try connection.statement("SELECT value FROM item").first {
      row throws(SQLiteError) in row.isNull(0)
    }
    #expect(isNull == true)
  }

  @Test func resetClearsTheBindings() throws {
    let connection = try Connection.inMemory()
    let statement = try connection.statement("SELECT ?")
    try statement.bind(7, at: 1)
    #expect(try statement.step())
    let bound = statement.row.int64(0)
    #expect(bound == 7)
    statement.reset()
    #expect(try statement.step())
    let isNull = statement.row.isNull(0)
    #expect(isNull)
    statement.reset()
  }

  @Test func firstLeavesNoTransactionOpen() throws {
    let connection = try Connection.withItems()
    try connection.add("a")
    try connection.add("b")
    let first = try connection.statement("SELECT id FROM item ORDER BY id").first {
      row throws(SQLiteError) in try row.string(0)
    }
    #expect(first == "a")
    // A read that is still open would lock the table.
    try connection.execute("DROP TABLE item")
  }

  @Test func visitEndsAndIsResetWhenItsRowHandlerReturnsFalse() throws {
    let connection = try Connection.withItems()
    for id in ["a", "b", "c", "d"] { try connection.add(id) }
    let statement = try connection.statement("SELECT id FROM item WHERE id > ? ORDER BY id")
    var seen: [String] = []
    try statement.visit(.text("a")) { row in
      seen.append(try row.string(0))
      return seen.count < 2
    }
    #expect(seen == ["b", "c"])
    try statement.visit(.text("d")) { _ in
      Issue.record("there is no such row")
      return true
    }
    // A read that is still open would lock the table.
    try connection.execute("DROP TABLE item")
  }

  @Test func firstOfNothingIsNil() throws {
    let connection = try Connection.withItems()
    let first = try connection.statement("SELECT id FROM item").first {
      row throws(SQLiteError) in row.int64(0)
    }
    #expect(first == nil)
  }

  @Test func runningAStatementInsideItselfIsMisuse() throws {
    let connection = try Connection.withItems()
    try connection.add("a")
    try connection.add("b")
    let statement = try connection.statement("SELECT id FROM item ORDER BY id")
    var seen: [String] = []
    try statement.query { row throws(SQLiteError) in
      seen.append(try row.string(0))
      #expect(code { try statement.run() } == .misuse)
    }
    #expect(seen == ["a", "b"])
  }
}
