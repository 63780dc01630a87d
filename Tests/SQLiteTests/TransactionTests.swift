import SQLite
import TestSupport
import Testing

@Suite struct TransactionTests {
  @Test func committedWritesStay() throws {
    let connection = try Connection.withItems()
    #expect(!connection.inTransaction)
    try connection.begin()
    #expect(connection.inTransaction)
    try connection.add("a")
    try connection.commit()
    #expect(!connection.inTransaction)
    #expect(try connection.ids() == ["a"])
  }

  @Test func rolledBackWritesAreGone() throws {
    let connection = try Connection.withItems()
    try connection.begin()
    try connection.add("a")
    try connection.rollback()
    #expect(!connection.inTransaction)
    #expect(try connection.ids() == [])
  }

  @Test func rollingBackNothingDoesNothing() throws {
    let connection = try Connection.inMemory()
    try connection.rollback()
  }

  @Test func beginningTwiceFails() throws {
    let connection = try Connection.inMemory()
    try connection.begin()
    #expect(code { try connection.begin() } == .other)
    #expect(connection.inTransaction)
  }

  @Test func secondWriterIsBusyUntilTheFirstCommits() throws {
    let directory = try TemporaryDirectory()
    let one = try Connection(path: directory.file("shared"), mode: .readWriteCreate)
    try one.enableWriteAheadLog()
    try one.makeItems()
    let other = try Connection(path: directory.file("shared"), mode: .readWrite, busyTimeout: 1)
    try one.begin()
    do throws(SQLiteError) {
      try other.begin()
      Issue.record("two writers at once")
    } catch {
      #expect(error.code == .busy)
      #expect(error.isUnavailable)
    }
    #expect(!other.inTransaction)
    try one.commit()
    try other.begin()
    try other.commit()
  }

  @Test func droppingATableUnderItsReaderIsLocked() throws {
    let connection = try Connection.withItems()
    try connection.add("a")
    let reading = try connection.statement("SELECT id FROM item")
    #expect(try reading.step())
    #expect(code { try connection.execute("DROP TABLE item") } == .locked)
    reading.reset()
    try connection.execute("DROP TABLE item")
  }

  @Test func fullDatabaseKeepsWhatWasCommitted() throws {
    let connection = try Connection.withItems()
    try connection.add("before")
    try connection.execute("PRAGMA max_page_count = 8")
    try connection.begin()
    let insertion = try connection.statement("INSERT INTO item VALUES ('big', zeroblob(?))")
    do throws(SQLiteError) {
      try insertion.run(.integer(1_000_000))
      Issue.record("more was written than there is room for")
    } catch {
      #expect(error.code == .full)
      #expect(error.isStorageFull)
      #expect(!error.isUnavailable)
    }
    try connection.rollback()
    #expect(try connection.ids() == ["before"])
    try connection.add("after")
    #expect(try connection.ids() == ["before", "after"])
  }
}
