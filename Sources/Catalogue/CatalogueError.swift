import SQLite

/// Why the catalogue can't be opened or imported. The operator may see the reason.
package struct CatalogueError: Error, Sendable, CustomDebugStringConvertible {
  /// What went wrong. A closed set, so that each caller maps every case.
  package enum Code: String, Sendable, CaseIterable {
    /// The catalogue's file is damaged or not a catalogue.
    case damaged
    /// The catalogue's file or directory can't be used now: absent, not permitted, locked.
    case unavailable
    /// The disk has no space for the new catalogue.
    case storageFull
    /// Another import into the same directory is running.
    case busy
    /// The bytes to import can't be read.
    case unreadable
    /// The bytes to import are neither a JSON array nor a sequence of JSON objects.
    case malformed
    /// The bytes to import end inside an array or a row.
    case truncated
    /// A row is not a valid hotel, and the policy is to refuse bad rows.
    case badRow
    /// The file has no hotel.
    case empty
    /// The file looks like a mistake; see ``ImportCheck``.
    case doubtful
    /// There is no former catalogue to bring back.
    case noFormer
    /// The importing task was cancelled.
    case cancelled

    /// Whether the bytes to import are the cause, so that the same bytes fail again.
    package var isOfTheFile: Bool {
      switch self {
      case .malformed, .truncated, .badRow, .empty, .doubtful: true
      case .damaged, .unavailable, .storageFull, .busy, .unreadable, .noFormer, .cancelled: false
      }
    }
  }

  package let code: Code
  /// A sentence that says what to do.
  package let reason: String
  /// The line in the bytes to import, from 1; nil when the error concerns no line.
  package let line: Int?
  /// Further details for an operator.
  package let detail: String

  package init(_ code: Code, _ reason: String, line: Int? = nil, detail: String = "") {
    self.code = code
    self.reason = reason
    self.line = line
    self.detail = detail
  }

  /// The code, the reason, the line and the detail.
  package var debugDescription: String {
    let location = line.map { ", line \($0)" } ?? ""
    return "CatalogueError(\(code.rawValue): \(reason)\(location) \(detail))"
  }
}

extension CatalogueError {
  /// Converts an error of SQLite.
  init(_ error: any Error) {
    let detail = String(reflecting: error)
    if let error = error as? CatalogueError {
      self = error
      return
    }
    let error = error as? SQLiteError
    if error?.isDamage ?? false {
      self.init(.damaged, "The hotel catalogue is damaged.", detail: detail)
    } else if error?.isStorageFull ?? false {
      self.init(.storageFull, "There is no space for the hotel catalogue.", detail: detail)
    } else {
      self.init(.unavailable, "The hotel catalogue can't be used now.", detail: detail)
    }
  }

  /// Runs `body` and converts errors of SQLite.
  static func translating<Result>(_ body: () throws -> Result) throws(CatalogueError) -> Result {
    do { return try body() } catch { throw CatalogueError(error) }
  }
}
