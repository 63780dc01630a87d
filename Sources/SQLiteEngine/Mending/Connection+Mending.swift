import SQLite
import Stores

extension Connection {
  /// Makes everything anew that follows from the rows of a store's file: SQLite's indexes and the order of local
  /// documents. Query indexes go: they are made anew when they are asked.
  ///
  /// In one transaction, which leaves the file as it was where the check finds something still.
  /// - Parameter findings: what the check found.
  /// - Throws: `damaged` with these where that does not help.
  func mendIndexes(after findings: [String]) throws(StoreError) {
    let rows = StoreRows(self)
    let isMended = try attempt { () throws(SQLiteError) in
      let locals = try rows.localsAsFound()
      try rows.dropIndexes()
      try rows.replaceLocals(with: locals)
      try execute("REINDEX")
    }
    guard isMended else { throw .damaged(findings.prefix(3).joined(separator: "; ")) }
  }

  /// Runs work in a transaction, and commits it if the check finds nothing wrong any more.
  private func attempt(_ work: () throws(SQLiteError) -> Void) throws(StoreError) -> Bool {
    try storing { () throws(SQLiteError) in
      do throws(SQLiteError) {
        try begin()
        try work()
        if try integrityCheck(.full).isEmpty {
          try commit()
          return true
        }
      } catch {
        guard error.isDamage || error.code == .constraint else {
          try rollback()
          throw error
        }
      }
      try rollback()
      return false
    }
  }
}
