import SQLite
import Testing

@Suite struct BindingTests {
  private let connection: Connection

  init() throws {
    connection = try Connection.inMemory()
  }

  /// A value after a round trip: SQLite's name of its type, and its bytes.
  private func echo(_ binding: Binding) throws -> (type: String, bytes: [UInt8])? {
    try connection.statement("SELECT typeof(?1), ?1").first(binding) { row throws(SQLiteError) in
      (try row.string(0), row.bytes(1))
    }
  }

  @Test(arguments: [Int64.min, -1, 0, 1, 1 << 53 + 1, .max])
  func integersComeBackExact(value: Int64) throws {
    let back = try connection.statement("SELECT ?").first(.integer(value)) {
      row throws(SQLiteError) in row.int64(0)
    }
    #expect(back == value)
    #expect(try echo(.integer(value))?.type == "integer")
  }

  @Test(arguments: ["", "a", "\0", "a\0b\0", "caf\u{e9}", "cafe\u{301}", "🏨", "\u{feff}x"])
  func textComesBackByteForByte(text: String) throws {
    let back = try connection.statement("SELECT ?").first(.text(text)) {
      row throws(SQLiteError) in try row.string(0)
    }
    #expect(back.map { Array($0.utf8) } == Array(text.utf8))
    let echoed = try echo(.text(text))
    #expect(echoed?.type == "text")
    #expect(echoed?.bytes == Array(text.utf8))
  }

  @Test func longTextComesBackByteForByte() throws {
    let text = String(repeating: "hôtel\0", count: 20_000)
    #expect(try echo(.text(text))?.bytes == Array(text.utf8))
  }

  @Test func partOfAStringIsBoundAsThatPart() throws {
    let part = String("a long string that is not small".dropFirst(2).prefix(20))
    #expect(try echo(.text(part))?.bytes == Array(part.utf8))
  }

  @Test(arguments: [[], [0], [0xff, 0, 0xfe], [UInt8](repeating: 7, count: 100_000)])
  func bytesComeBackUnchanged(bytes: [UInt8]) throws {
    let echoed = try echo(.bytes(bytes))
    #expect(echoed?.type == "blob")
    #expect(echoed?.bytes == bytes)
  }

  @Test func nilIsNull() throws {
    #expect(try echo(.null)?.type == "null")
    #expect(try echo(.text(nil))?.type == "null")
    #expect(try echo(.bytes(nil))?.type == "null")
  }

  @Test func nullReadsAsNothing() throws {
    try connection.statement("SELECT NULL").query { row throws(SQLiteError) in
      let (isNull, integer, bytes) = (row.isNull(0), row.int64(0), row.bytes(0))
      let text = try row.string(0)
      #expect(isNull && integer == 0 && text.isEmpty && bytes.isEmpty)
    }
  }

  @Test func columnThatIsNotThereReadsAsNull() throws {
    try connection.statement("SELECT 1").query { row throws(SQLiteError) in
      let areNull = [row.isNull(0), row.isNull(1), row.isNull(-1)]
      let bytes = row.bytes(9)
      #expect(areNull == [false, true, true])
      #expect(bytes == [])
    }
  }

  @Test func parameterThatIsNotThereIsMisuse() throws {
    let statement = try connection.statement("SELECT ?")
    #expect(code { try statement.bind(1, at: 0) } == .misuse)
    #expect(code { try statement.bind("a", at: 2) } == .misuse)
    #expect(code { try statement.bind([], at: -1) } == .misuse)
    #expect(code { try statement.bindNull(at: 2) } == .misuse)
  }

  @Test func bindingARunningStatementIsMisuse() throws {
    let statement = try connection.statement("SELECT ?")
    defer { statement.reset() }
    #expect(try statement.step())
    #expect(code { try statement.bind(1, at: 1) } == .misuse)
  }

  @Test(arguments: [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0x61, 0xe2, 0x82]] as [[UInt8]])
  func invalidTextIsDamageAndNotRepaired(bytes: [UInt8]) throws {
    let statement = try connection.statement("SELECT CAST(? AS TEXT)")
    let thrown = code {
      _ = try statement.first(.bytes(bytes)) { row throws(SQLiteError) in try row.string(0) }
    }
    #expect(thrown == .corrupt)
    // The value can still be read as bytes.
    let back = try statement.first(.bytes(bytes)) { row throws(SQLiteError) in row.bytes(0) }
    #expect(back == bytes)
  }

  @Test func textIsComparedByItsBytes() throws {
    let table = try Connection.withItems()
    try table.add("caf\u{e9}")
    try table.add("cafe\u{301}")
    try table.add("a\0b")
    try table.add("a\0c")
    #expect(try table.ids().count == 4)
    let found = try table.statement("SELECT rowid FROM item WHERE id = ?").all(.text("a\0c")) {
      row throws(SQLiteError) in row.int64(0)
    }
    #expect(found == [4])
  }

  @Test func bytesAreCopied() throws {
    let statement = try connection.statement("SELECT ?")
    var bytes: [UInt8] = [1, 2, 3]
    try statement.bind(bytes, at: 1)
    bytes[0] = 9
    #expect(try statement.step())
    let (copy, count) = (statement.row.bytes(0), statement.row.withBytes(0) { $0.count })
    #expect(copy == [1, 2, 3])
    #expect(count == 3)
    statement.reset()
  }

  @Test func withBytesThrowsWhatItsBodyThrows() throws {
    struct Refusal: Error {}
    let statement = try connection.statement("SELECT x'0102'")
    defer { statement.reset() }
    #expect(try statement.step())
    #expect(throws: Refusal.self) {
      try statement.row.withBytes(0) { _ throws(Refusal) in throw Refusal() }
    }
  }

  @Test func tooLargeAValueIsTooBig() {
    #expect(code { try connection.execute("SELECT zeroblob(1000000001)") } == .tooBig)
  }
}
