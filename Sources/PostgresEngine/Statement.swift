/// A statement with constant SQL. Each connection prepares it once, when it is first used.
struct Statement: Sendable {
  /// The SQL text, with `$1`, `$2` and so on for the values.
  let sql: String
  /// Whether a connection keeps the prepared statement.
  var isKept = true

  /// Creates a statement that connections keep.
  /// - Parameter sql: a constant, which never contains anything that a client sent.
  init(_ sql: String) { self.sql = sql }

  /// Creates a statement that is prepared for each call anew.
  init(once sql: String) { (self.sql, isKept) = (sql, false) }

  /// Creates the statement that inserts a row, or replaces the other columns of the row that has its key. The values are
  /// in the order of the columns, those of the key first.
  init(into table: String, key: [String], _ others: [String]) {
    func list(_ parts: [String]) -> String { parts.joined(separator: ", ") }
    let columns = key + others
    self.init(
      """
      INSERT INTO \(table)(\(list(columns))) VALUES (\(list(columns.indices.map { "$\($0 + 1)" })))
      ON CONFLICT (\(list(key))) DO UPDATE SET \(list(others.map { "\($0) = excluded.\($0)" }))
      """)
  }
}

/// A value of a statement, sent in PostgreSQL's binary form
/// (<https://www.postgresql.org/docs/current/protocol-overview.html#PROTOCOL-FORMAT-CODES>).
enum Value: Sendable, Equatable {
  /// `NULL`.
  case null
  /// A `bigint`.
  case integer(Int64)
  /// A `boolean`.
  case flag(Bool)
  /// A `bytea`.
  case bytes([UInt8])
  /// A `bigint[]`.
  case integers([Int64])
  /// A `bytea[]`, some of it `NULL`.
  case list([[UInt8]?])

  /// The UTF-8 bytes of a text. Ids, names and keys are compared by bytes.
  static func text(_ text: String) -> Value { .bytes(Array(text.utf8)) }
  /// The UTF-8 bytes of a text; `NULL` for nil.
  static func text(_ text: String?) -> Value { text.map { .text($0) } ?? .null }
  /// An integer; `NULL` for nil.
  static func integer(_ value: Int64?) -> Value { value.map { .integer($0) } ?? .null }
  static func integer(_ value: Int) -> Value { .integer(Int64(value)) }
  /// Bytes; `NULL` for an empty array, such as an unknown arrival.
  static func filled(_ bytes: [UInt8]) -> Value { bytes.isEmpty ? .null : .bytes(bytes) }

  /// The bytes that are sent; nil for `NULL`.
  var encoded: [UInt8]? {
    switch self {
    case .null: nil
    case .integer(let value): Self.bytes(value)
    case .flag(let flag): [flag ? 1 : 0]
    case .bytes(let bytes): bytes
    case .integers(let values): Self.array(of: 20, values.map { Self.bytes($0) })
    case .list(let values): Self.array(of: 17, values)
    }
  }

  private static func bytes<Number: FixedWidthInteger>(_ value: Number) -> [UInt8] {
    withUnsafeBytes(of: value.bigEndian) { Array($0) }
  }

  /// Encodes an array: the number of dimensions, whether there are nulls, the OID of the elements' type, the number of
  /// elements, and the index of the first one; then each element after its length. Source: PostgreSQL, `array_recv`.
  private static func array(of type: Int32, _ elements: [[UInt8]?]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(elements.reduce(20) { $0 + 4 + ($1?.count ?? 0) })
    let hasNull: Int32 = elements.contains { $0 == nil } ? 1 : 0
    let head: [Int32] =
      elements.isEmpty ? [0, 0, type] : [1, hasNull, type, Int32(elements.count), 1]
    for number in head { bytes += Self.bytes(number) }
    for element in elements {
      bytes += Self.bytes(element.map { Int32($0.count) } ?? -1)
      if let element { bytes += element }
    }
    return bytes
  }
}

/// A statement with its values.
struct Call: Sendable {
  let statement: Statement
  /// Its values, in order.
  let values: [Value]

  /// Creates a call.
  init(_ statement: Statement, _ values: Value...) {
    self.statement = statement
    self.values = values
  }

  /// Creates a call about a store, whose number is the first value.
  init(_ statement: Statement, of store: Int64, _ others: [Value]) {
    self.statement = statement
    values = [.integer(store)] + others
  }

  /// About how many bytes the call writes into tables: its values, and the overhead of a row and its index entries.
  var writtenBytes: Int64 { values.reduce(Self.rowBytes) { $0 + Int64($1.encoded?.count ?? 0) } }

  /// The estimated overhead of a row and its index entries, in bytes.
  static let rowBytes: Int64 = 128
}
