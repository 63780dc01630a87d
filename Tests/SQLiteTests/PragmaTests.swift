import SQLite
import TestSupport
import Testing

@Suite struct PragmaTests {
  @Test func versionsStayInTheFile() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("versions")
    let connection = try Connection(path: path, mode: .readWriteCreate)
    #expect(try connection.userVersion() == 0)
    #expect(try connection.applicationID() == 0)
    try connection.setUserVersion(.max)
    try connection.setApplicationID(.min)
    try connection.close()
    let again = try Connection(path: path, mode: .readOnly)
    #expect(try again.userVersion() == .max)
    #expect(try again.applicationID() == .min)
  }

  @Test func versionIsPartOfItsTransaction() throws {
    let connection = try Connection.inMemory()
    try connection.begin()
    try connection.setUserVersion(3)
    try connection.rollback()
    #expect(try connection.userVersion() == 0)
  }

  @Test func pagesAreCounted() throws {
    let connection = try Connection.inMemory()
    #expect(try connection.pageCount() == 0)
    try connection.makeItems()
    try connection.statement("INSERT INTO item VALUES ('a', zeroblob(?))").run(.integer(100_000))
    let pages = try connection.pageCount()
    #expect(pages > 20)
    #expect(try connection.pageSize() == 4096)
    #expect(try connection.freePageCount() == 0)
    try connection.execute("DELETE FROM item")
    #expect(try connection.freePageCount() > 20)
    #expect(try connection.pageCount() == pages)
  }

  @Test func databaseInMemoryHasNoWriteAheadLog() throws {
    let connection = try Connection.inMemory()
    #expect(code { try connection.enableWriteAheadLog() } == .other)
  }

  @Test func checkpointCopiesTheLogIntoTheFile() throws {
    let directory = try TemporaryDirectory()
    let connection = try Connection(path: directory.file("log"), mode: .readWriteCreate)
    try connection.enableWriteAheadLog()
    try connection.setAutomaticCheckpoint(frames: 0)
    try connection.makeItems()
    try connection.add("a")
    let passive = try connection.checkpoint(.passive)
    #expect(passive.logFrames > 0)
    #expect(passive.copiedFrames == passive.logFrames)
    #expect(try !directory.read("log-wal").isEmpty)
    let truncating = try connection.checkpoint(.truncate)
    #expect(truncating.logFrames == 0)
    #expect(truncating.copiedFrames == 0)
    #expect(try directory.read("log-wal").isEmpty)
  }

  @Test func checkpointWithoutALogSaysSo() throws {
    let connection = try Connection.withItems()
    let checkpoint = try connection.checkpoint(.truncate)
    #expect(checkpoint.logFrames == -1)
    #expect(checkpoint.copiedFrames == -1)
  }

  @Test func checkpointInsideATransactionIsLocked() throws {
    let directory = try TemporaryDirectory()
    let connection = try Connection(path: directory.file("log"), mode: .readWriteCreate)
    try connection.enableWriteAheadLog()
    try connection.begin()
    #expect(code { _ = try connection.checkpoint(.truncate) } == .locked)
  }

  @Test func limitsOfTheConnectionAreTaken() throws {
    let directory = try TemporaryDirectory()
    let connection = try Connection(path: directory.file("limits"), mode: .readWriteCreate)
    func setting(_ pragma: StaticString) throws -> Int64? {
      try connection.statement(pragma).first { row throws(SQLiteError) in row.int64(0) }
    }
    try connection.setCacheSize(kibibytes: 512)
    #expect(try setting("PRAGMA cache_size") == -512)
    try connection.setJournalSizeLimit(bytes: 65_536)
    #expect(try setting("PRAGMA journal_size_limit") == 65_536)
    try connection.setBusyTimeout(milliseconds: 250)
    #expect(try setting("PRAGMA busy_timeout") == 250)
    try connection.setAutomaticCheckpoint(frames: 10)
    #expect(try setting("PRAGMA wal_autocheckpoint") == 10)
  }
}
