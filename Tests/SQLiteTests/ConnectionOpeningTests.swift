import Foundation
import SQLite
import TestSupport
import Testing

@Suite struct ConnectionOpeningTests {
  let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
  }

  private func error(opening path: String, _ mode: Connection.Mode = .readWrite) -> SQLiteError? {
    do throws(SQLiteError) {
      _ = try Connection(path: path, mode: mode)
      return nil
    } catch {
      return error
    }
  }

  /// The bytes of a database with many pages, whose rows are on the later ones.
  private func databaseBytes() throws -> [UInt8] {
    let connection = try Connection.withItems()
    for number in 0..<200 {
      try connection.statement("INSERT INTO item VALUES (?, zeroblob(500))").run(.text("\(number)"))
    }
    return try connection.serialize()
  }

  @Test(arguments: [Connection.Mode.readWrite, .readOnly])
  func absentFileCannotBeOpenedNorIsMade(mode: Connection.Mode) {
    let path = directory.file("absent")
    let error = error(opening: path, mode)
    #expect(error?.code == .cantOpen)
    #expect(error?.systemErrno == ENOENT)
    #expect(error?.isUnavailable == true)
    #expect(error?.isDamage == false)
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test func absentFileIsMadeOnRequest() throws {
    let path = directory.file("made")
    let connection = try Connection(path: path, mode: .readWriteCreate)
    try connection.makeItems()
    try connection.add("a")
    try connection.close()
    #expect(try Connection(path: path, mode: .readOnly).ids() == ["a"])
  }

  @Test func symbolicLinkIsNotFollowed() throws {
    let target = directory.file("target")
    try Connection(path: target, mode: .readWriteCreate).makeItems()
    let link = directory.file("link")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
    #expect(error(opening: link)?.code == .cantOpen)
    #expect(error(opening: link, .readWriteCreate)?.code == .cantOpen)
    #expect(error(opening: link, .readOnly)?.code == .cantOpen)
    #expect(error(opening: target) == nil)
  }

  @Test func directoryCannotBeOpened() {
    #expect(error(opening: directory.path)?.code == .cantOpen)
  }

  @Test func garbageIsNotADatabase() throws {
    let path = try directory.write([UInt8](repeating: 0x5a, count: 8192), to: "garbage")
    let error = error(opening: path)
    #expect(error?.code == .notADatabase)
    #expect(error?.isDamage == true)
    #expect(error?.isUnavailable == false)
  }

  @Test func truncatedFileIsCorrupt() throws {
    let bytes = try databaseBytes()
    let path = try directory.write([UInt8](bytes.prefix(bytes.count / 2)), to: "truncated")
    let error = error(opening: path)
    #expect(error?.code == .corrupt)
    #expect(error?.isDamage == true)
  }

  @Test func damagedPageIsFoundWhenRead() throws {
    var bytes = try databaseBytes()
    bytes.replaceSubrange((bytes.count - 4096)..., with: [UInt8](repeating: 0xff, count: 4096))
    let path = try directory.write(bytes, to: "damaged")
    let connection = try Connection(path: path, mode: .readWrite)
    #expect(code { _ = try connection.ids() } == .corrupt)
    #expect(try !connection.integrityCheck().isEmpty)
  }

  @Test func soundFileHasNoFindings() throws {
    let path = try directory.write(try databaseBytes(), to: "sound")
    let connection = try Connection(path: path, mode: .readWrite)
    #expect(try connection.integrityCheck() == [])
    #expect(try connection.ids().count == 200)
  }

  @Test func emptyFileIsAnEmptyDatabase() throws {
    let path = try directory.write([], to: "empty")
    #expect(try Connection(path: path, mode: .readWrite).pageCount() == 0)
  }

  @Test func pathsWithASpecialMeaningToSQLiteAreRefusedOrPlainFiles() {
    #expect(error(opening: "")?.code == .cantOpen)
    #expect(error(opening: directory.file("a\0b"), .readWriteCreate)?.code == .cantOpen)
    #expect(error(opening: ":memory:")?.code == .cantOpen)
    #expect(error(opening: "file::memory:")?.code == .cantOpen)
  }

  @Test func readOnlyConnectionRefusesWrites() throws {
    let path = directory.file("read-only")
    try Connection(path: path, mode: .readWriteCreate).makeItems()
    let connection = try Connection(path: path, mode: .readOnly)
    #expect(code { try connection.add("a") } == .readOnly)
    #expect(try connection.ids() == [])
  }

  @Test func databasesInMemoryAreSeparate() throws {
    let one = try Connection.withItems()
    let other = try Connection.withItems()
    try one.add("a")
    #expect(try other.ids() == [])
  }

  @Test func misspeltColumnInDoubleQuotesIsAnError() throws {
    let connection = try Connection.withItems()
    #expect(code { try connection.execute(#"SELECT "vlaue" FROM item"#) } == .other)
  }

  @Test func schemaTableCannotBeWritten() throws {
    let connection = try Connection.withItems()
    try connection.execute("PRAGMA writable_schema=ON")
    #expect(code { try connection.execute("DELETE FROM sqlite_schema") } == .other)
  }
}
