import SQLite

extension CatalogueError {
  /// The error that stands for what SQLite refused.
  init(_ error: SQLiteError) {
    let detail = error.debugDescription
    if error.isDamage {
      self.init(.damaged, "The hotel catalogue is damaged.", detail: detail)
    } else if error.isStorageFull {
      self.init(.storageFull, "There is no room for the hotel catalogue.", detail: detail)
    } else {
      self.init(.unavailable, "The hotel catalogue can't be used now.", detail: detail)
    }
  }

  /// Runs `body`, and says what SQLite refused in this layer's words.
  static func translating<Result>(
    _ body: () throws(SQLiteError) -> Result
  ) throws(CatalogueError) -> Result {
    do { return try body() } catch { throw CatalogueError(error) }
  }
}
