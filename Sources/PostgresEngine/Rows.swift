import CPostgres

/// The rows that a statement found. All of them are in memory.
///
/// Unchecked, because the compiler cannot see what libpq does with its result. Proof: the functions that are called after
/// `init` only read it.
final class Rows: @unchecked Sendable {
  /// libpq's result, freed with this object.
  private let result: OpaquePointer?
  /// The number of rows.
  let count: Int
  /// How many rows a statement without results has written.
  let affected: Int

  /// Takes ownership of a result of libpq.
  init(_ result: OpaquePointer?) {
    self.result = result
    count = Int(PQntuples(result))
    affected = PQcmdTuples(result).flatMap { Int(String(cString: $0)) } ?? 0
  }

  deinit { PQclear(result) }

  /// The rows in order.
  var all: [Row] { (0..<count).map { Row(rows: self, index: Int32($0)) } }
  var first: Row? { count > 0 ? Row(rows: self, index: 0) : nil }

  /// A field's bytes; nil for `NULL`, and for a column that the result doesn't have.
  fileprivate func field(_ row: Int32, _ column: Int) -> UnsafeRawBufferPointer? {
    let column = Int32(column)
    guard column < PQnfields(result), PQgetisnull(result, row, column) == 0,
      let start = PQgetvalue(result, row, column)
    else { return nil }
    return UnsafeRawBufferPointer(start: start, count: Int(PQgetlength(result, row, column)))
  }
}

/// One row, in PostgreSQL's binary format. It keeps the result in memory.
struct Row: Sendable {
  fileprivate let rows: Rows
  fileprivate let index: Int32

  /// Whether a field is `NULL`.
  func isNull(_ column: Int) -> Bool { rows.field(index, column) == nil }

  /// A `bigint`; 0 for `NULL`. The checksum of the row detects a wrong `NULL`.
  func integer(_ column: Int) -> Int64 {
    guard let field = rows.field(index, column), field.count == 8 else { return 0 }
    return Int64(bigEndian: field.loadUnaligned(as: Int64.self))
  }

  /// A `bigint`, or nil for `NULL`.
  func optionalInteger(_ column: Int) -> Int64? { isNull(column) ? nil : integer(column) }

  /// A `boolean`; false for `NULL`.
  func flag(_ column: Int) -> Bool { rows.field(index, column)?.first == 1 }

  /// A `bytea`; empty for `NULL`.
  func bytes(_ column: Int) -> [UInt8] { rows.field(index, column).map { Array($0) } ?? [] }

  /// A `bytea` as text; nil for `NULL`, and for damaged bytes that are not UTF-8.
  func text(_ column: Int) -> String? {
    rows.field(index, column).flatMap { String(validating: $0, as: UTF8.self) }
  }
}
