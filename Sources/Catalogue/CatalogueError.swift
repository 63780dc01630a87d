import SQLite

/// Why the catalogue can't be opened or imported. The reason may be shown to whoever runs the service.
package struct CatalogueError: Error, Sendable, CustomDebugStringConvertible {
  /// What went wrong; closed, so that each caller maps every case.
  package enum Code: String, Sendable, CaseIterable {
    /// The catalogue's file is no sound catalogue.
    case damaged
    /// The catalogue's file, or its directory, can't be used now: absent, forbidden, locked.
    case unavailable
    /// There is no room left for the new catalogue.
    case storageFull
    /// Another import into the same directory is under way.
    case busy
    /// The bytes to import can't be read.
    case unreadable
    /// The bytes to import are neither a JSON array nor JSON objects one after another.
    case malformed
    /// The bytes to import end inside an array or a row.
    case truncated
    /// A row is no hotel, and bad rows are refused.
    case badRow
    /// There is no hotel among the rows.
    case empty
    /// The task that imported was cancelled.
    case cancelled
  }

  /// What went wrong.
  package let code: Code
  /// A sentence that says what to do.
  package let reason: String
  /// The line of the bytes to import, from 1, where there is one.
  package let line: Int?
  /// What an operator needs beyond the reason.
  package let detail: String

  /// An error with its words.
  package init(_ code: Code, _ reason: String, line: Int? = nil, detail: String = "") {
    self.code = code
    self.reason = reason
    self.line = line
    self.detail = detail
  }

  /// The code, the reason, the line and the detail.
  package var debugDescription: String {
    let place = line.map { ", line \($0)" } ?? ""
    return "CatalogueError(\(code.rawValue): \(reason)\(place) \(detail))"
  }
}

extension CatalogueError {
  /// The error that stands for what SQLite refused.
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
      self.init(.storageFull, "There is no room for the hotel catalogue.", detail: detail)
    } else {
      self.init(.unavailable, "The hotel catalogue can't be used now.", detail: detail)
    }
  }

  /// Runs `body`, and says what SQLite refused in this layer's words.
  static func translating<Result>(
    _ body: () throws -> Result
  ) throws(CatalogueError) -> Result {
    do { return try body() } catch { throw CatalogueError(error) }
  }
}
