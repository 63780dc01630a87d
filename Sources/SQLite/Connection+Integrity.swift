extension Connection {
  /// How much of the file an integrity check reads.
  package enum IntegrityCheck: Sendable {
    /// The structure of all pages. <https://sqlite.org/pragma.html#pragma_quick_check>
    case quick
    /// Also that every index agrees with its table.
    /// <https://sqlite.org/pragma.html#pragma_integrity_check>
    case full
  }

  /// Looks for damage and answers what it found, about 100 findings at most; empty if sound.
  ///
  /// Damage that keeps SQLite from looking any further is the last finding, not an error. Takes
  /// time in proportion to the file. It cannot see a changed bit inside a stored value.
  package func integrityCheck(_ depth: IntegrityCheck) throws(SQLiteError) -> [String] {
    var findings: [String] = []
    do throws(SQLiteError) {
      let check: Statement
      switch depth {
      case .quick: check = try statement("PRAGMA quick_check(100)")
      case .full: check = try statement("PRAGMA integrity_check(100)")
      }
      try check.query { row throws(SQLiteError) in findings.append(try row.string(0)) }
    } catch {
      guard error.isDamage else { throw error }
      findings.append(error.message)
    }
    return findings == ["ok"] ? [] : findings
  }
}
