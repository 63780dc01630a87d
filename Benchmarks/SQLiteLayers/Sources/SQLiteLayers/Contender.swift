/// A measured way to access SQLite, with its own store.
protocol Contender {
  /// The name in the table.
  var name: String { get }
  /// Calls `body` with the operations, inside the scope that they need.
  func session(_ body: (any Operations) throws -> Void) throws
}

/// The three measured operations.
protocol Operations {
  /// Reads one document and returns the number of its bytes.
  func read(_ key: String) throws -> Int
  /// Writes one document, as write number `number`, and returns when it is on the disk.
  func upsert(_ key: String, _ number: Int) throws
  /// Writes several, numbered from `number`, each in a savepoint, and returns when all are on the
  /// disk.
  func upsertTogether(_ keys: ArraySlice<String>, _ number: Int) throws
}

/// An operation returned a wrong result, so the measurement is invalid.
struct WrongResult: Error {
  let contender: String
}
