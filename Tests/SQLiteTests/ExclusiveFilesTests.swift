import Foundation
import SQLite
import TestSupport
import Testing

/// A file that only one connection uses: what may stay in memory, and what must be in the file.
@Suite struct ExclusiveFilesTests {
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
  }

  /// A new database with a log, for this connection only.
  private func opened(_ name: String = "file") throws -> Connection {
    let path = directory.file(name)
    let maker = try Connection(path: path, mode: .readWriteCreate)
    try maker.enableWriteAheadLog()
    try maker.makeItems()
    try maker.close()
    let connection = try Connection(path: path, mode: .readWrite, exclusive: true)
    try connection.execute("PRAGMA synchronous = FULL")
    try connection.setAutomaticCheckpoint(frames: 0)
    return connection
  }

  /// Copies the file and its log in their present state, as after a crash. Returns the ids in the copy.
  private func idsAfterACrash(of name: String = "file") throws -> [String] {
    let copy = directory.file("copy")
    for suffix in ["", "-wal"] {
      try? FileManager.default.removeItem(atPath: copy + suffix)
      try FileManager.default.copyItem(
        atPath: directory.file(name) + suffix, toPath: copy + suffix)
    }
    let connection = try Connection(path: copy, mode: .readWrite, exclusive: true)
    defer { try? connection.close() }
    #expect(try connection.integrityCheck().isEmpty)
    return try connection.ids()
  }

  @Test func commitIsInTheLogWhenItReturns() throws {
    let connection = try opened()
    for number in 0..<40 {
      try connection.add("\(number)")
      #expect(try idsAfterACrash() == (0...number).map(String.init))
    }
    try connection.close()
  }

  @Test func largeCommitIsInTheLogWhenItReturns() throws {
    let connection = try opened()
    // More pages than one region of the log's index can count, enough to fill many buffers.
    try connection.begin()
    try connection.execute(
      """
      WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 5000)
      INSERT INTO item SELECT n, zeroblob(4000) FROM number
      """)
    try connection.commit()
    #expect(try connection.ids().count == 5_000)
    #expect(try idsAfterACrash().count == 5_000)
    #expect(try connection.checkpoint(.passive).copiedFrames > 4_500)
    try connection.add("last")
    #expect(try idsAfterACrash().count == 5_001)
    #expect(try connection.checkpoint(.truncate).logFrames == 0)
    try connection.close()
    let reader = try Connection(path: directory.file("file"), mode: .readOnly)
    #expect(try reader.ids().count == 5_001)
    #expect(try reader.integrityCheck().isEmpty)
  }

  @Test func rolledBackTransactionIsNotThere() throws {
    let connection = try opened()
    try connection.add("kept")
    try connection.begin()
    try connection.add("lost")
    try connection.rollback()
    #expect(try connection.ids() == ["kept"])
    #expect(try idsAfterACrash() == ["kept"])
  }

  @Test func logsIndexIsNoFile() throws {
    let connection = try opened()
    try connection.add("one")
    let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
    #expect(Set(names) == ["file", "file-wal"])
    try connection.close()
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["file"])
  }

  @Test func nobodyElseOpensTheFileBeforeItIsClosed() throws {
    let connection = try opened()
    for exclusive in [false, true] {
      do throws(SQLiteError) {
        _ = try Connection(
          path: directory.file("file"), mode: .readWrite, exclusive: exclusive)
        Issue.record("two connections have the file")
      } catch {
        #expect(error.code == .busy)
      }
    }
    try connection.add("one")
    try connection.close()
    let next = try Connection(path: directory.file("file"), mode: .readWrite, exclusive: true)
    #expect(try next.ids() == ["one"])
  }

  @Test func compactedCopyIsWhole() throws {
    let connection = try opened()
    for number in 0..<300 { try connection.add("\(number)") }
    try connection.statement("VACUUM INTO ?1").run(.text(directory.file("compacted")))
    let copy = try Connection(path: directory.file("compacted"), mode: .readOnly)
    #expect(try copy.ids().count == 300)
    #expect(try copy.integrityCheck().isEmpty)
  }
}
