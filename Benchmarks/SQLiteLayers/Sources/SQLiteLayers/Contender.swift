/// A way to the database under measurement, with a store of its own.
protocol Contender {
  /// The name in the table.
  var name: String { get }
  /// Calls `body` with the operations, in whatever scope this way needs around them.
  func session(_ body: (any Operations) throws -> Void) throws
}

/// The three operations that are measured.
protocol Operations {
  /// Reads one document and answers how many bytes it got.
  func read(_ key: String) throws -> Int
  /// Writes one document, as write number `number`, and returns when it is on the disk.
  func upsert(_ key: String, _ number: Int) throws
  /// Writes several, numbered from `number`, each in a savepoint, and returns when all are on the
  /// disk.
  func upsertTogether(_ keys: ArraySlice<String>, _ number: Int) throws
}

/// A measurement that came out wrong, and so measured nothing.
struct WrongResult: Error {
  let contender: String
}
