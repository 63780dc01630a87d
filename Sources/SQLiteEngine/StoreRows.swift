import SQLite

/// The rows of one store's file, table by table: the SQL, and nothing of the rules.
///
/// Confined, as its connection is, to the actor that owns it.
final class StoreRows {
  /// The one connection to the file.
  let connection: Connection

  /// Rows over a connection.
  init(_ connection: Connection) {
    self.connection = connection
  }
}
