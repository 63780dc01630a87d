import SQLite
import Testing

@Suite struct ConnectionClosingTests {
  @Test func closedConnectionThrowsMisuse() throws {
    let connection = try Connection.withItems()
    try connection.close()
    #expect(code { try connection.execute("SELECT 1") } == .misuse)
    #expect(code { _ = try connection.statement("SELECT 1") } == .misuse)
    #expect(code { try connection.begin() } == .misuse)
    #expect(code { _ = try connection.checkpoint(.passive) } == .misuse)
    #expect(code { _ = try connection.serialize() } == .misuse)
    #expect(code { try connection.setUserVersion(1) } == .misuse)
    #expect(!connection.inTransaction)
  }

  @Test func closingTwiceDoesNothing() throws {
    let connection = try Connection.inMemory()
    try connection.close()
    try connection.close()
  }

  @Test func statementOutlivesItsConnectionSafely() throws {
    let connection = try Connection.withItems()
    try connection.add("a")
    let statement = try connection.statement("SELECT id FROM item")
    #expect(try statement.step())
    try connection.close()
    let (isNull, text) = (statement.row.isNull(0), try statement.row.string(0))
    #expect(isNull && text.isEmpty)
    #expect(code { _ = try statement.step() } == .misuse)
    #expect(code { try statement.bind(1, at: 1) } == .misuse)
    #expect(code { try statement.run() } == .misuse)
    statement.reset()
  }

  @Test func statementOutlivesADroppedConnectionSafely() throws {
    func makeStatement() throws -> Statement {
      try Connection.inMemory().statement("SELECT 1")
    }
    let statement = try makeStatement()
    #expect(code { _ = try statement.step() } == .misuse)
  }

  @Test func closingUnderABackupIsMisuse() throws {
    let source = try Connection.withItems()
    let destination = try Connection.inMemory()
    let backup = try Backup(from: source, to: destination)
    #expect(code { try source.close() } == .misuse)
    #expect(code { try destination.close() } == .misuse)
    #expect(try source.ids() == [])
    try backup.finish()
    try source.close()
    try destination.close()
  }
}
