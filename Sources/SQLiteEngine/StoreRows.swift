import SQLite

/// The rows of one store's file, table by table: the SQL, and nothing of the rules.
///
/// Confined, as its connection is, to the actor that owns it.
final class StoreRows {
  /// The one connection to the file.
  let connection: Connection
  /// Counts of changes, as of what was written last, also in an open transaction.
  var counts = ChangeCounts()
  /// Documents as they were written last, also in an open transaction.
  var recent = RecentDocuments()
  /// What is known of the file's size.
  var fileSize = FileSize()

  /// Rows over a connection.
  init(_ connection: Connection) {
    self.connection = connection
  }

  /// What was known of an open transaction holds no more.
  func forgetTransaction() {
    counts = ChangeCounts()
    recent = RecentDocuments()
  }
}
