import SQLite
import TestSupport
import Testing

@Suite struct CopyTests {
  let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
  }

  /// A file of about 60 pages with a write-ahead log that contains many of them.
  private func makeSource() throws -> Connection {
    let source = try Connection(path: directory.file("source"), mode: .readWriteCreate)
    try source.enableWriteAheadLog()
    try source.makeItems()
    try source.begin()
    for number in 0..<400 {
      try source.statement("INSERT INTO item VALUES (?, zeroblob(500))").run(.text("\(number)"))
    }
    try source.commit()
    return source
  }

  @Test func backupIsACompleteDatabase() throws {
    let source = try makeSource()
    let copy = try Connection(path: directory.file("copy"), mode: .readWriteCreate)
    let backup = try Backup(from: source, to: copy)
    while try backup.step(pages: 256) {}
    try backup.finish()
    #expect(try copy.ids() == source.ids())
    #expect(try copy.integrityCheck() == [])
  }

  @Test func writesBetweenStepsAreInTheBackup() throws {
    let source = try makeSource()
    let destination = try Connection.inMemory()
    let backup = try Backup(from: source, to: destination)
    #expect(try backup.step(pages: 5))
    try source.add("late")
    try source.statement("UPDATE item SET value = 'new' WHERE id = '0'").run()
    while try backup.step(pages: 5) {}
    try backup.finish()
    #expect(try destination.ids() == source.ids())
    let value = try destination.statement("SELECT value FROM item WHERE id = '0'").first {
      row throws(SQLiteError) in try row.string(0)
    }
    #expect(value == "new")
    #expect(code { _ = try backup.step(pages: 1) } == .misuse)
    try backup.finish()
  }

  @Test func abandonedBackupLeavesTheDestinationAsItWas() throws {
    let source = try makeSource()
    let destination = try Connection.withItems()
    try destination.add("old")
    let backup = try Backup(from: source, to: destination)
    #expect(try backup.step(pages: 5))
    try backup.finish()
    #expect(try destination.ids() == ["old"])
  }

  @Test func backupOntoItselfFails() throws {
    let source = try makeSource()
    #expect(code { _ = try Backup(from: source, to: source) } == .other)
  }

  @Test func serializedBytesAreADatabaseFile() throws {
    let source = try makeSource()
    let path = try directory.write(try source.serialize(), to: "template")
    let copy = try Connection(path: path, mode: .readWrite)
    #expect(try copy.ids() == source.ids())
    #expect(try copy.integrityCheck() == [])
  }

  @Test func databaseNeverWrittenSerializesToNothing() throws {
    #expect(try Connection.inMemory().serialize() == [])
  }
}
