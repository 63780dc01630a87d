import Stores

/// An error of PostgreSQL, or of the connection to it.
enum PostgresError: Error, CustomDebugStringConvertible {
  /// The connection is lost or unusable. This error alone does not tell whether the last statements took effect.
  case lost(String)
  /// The server accepts no writes, because another one is the primary now. Nothing of the transaction took effect.
  case readOnly(String)
  /// The server refused a statement: the five characters of the SQLSTATE, and the message.
  /// <https://www.postgresql.org/docs/current/errcodes-appendix.html>
  case refused(state: String, String)

  /// Creates an error from the fields of the server's error, or of libpq's own error.
  ///
  /// The connection is unusable after severity FATAL or PANIC and after these SQLSTATEs: class 08, connection
  /// exception; 57P01 to 57P03, the server shuts down or starts; 25006, the server accepts no writes; an empty one, an
  /// error of libpq.
  init(severity: String, state: String, message: String) {
    let isLost =
      severity == "FATAL" || severity == "PANIC" || state.isEmpty || state.hasPrefix("08")
      || ["57P01", "57P02", "57P03"].contains(state)
    self =
      if isLost { .lost("\(state) \(message)") } else if state == "25006" {
        .readOnly("\(state) \(message)")
      } else { .refused(state: state, message) }
  }

  /// Whether the connection is lost, so that the answer to the last statements will never be known.
  var isLost: Bool {
    if case .lost = self { true } else { false }
  }

  /// Whether the connection is unusable.
  var isOfConnection: Bool {
    if case .refused = self { false } else { true }
  }

  /// Whether the same work may succeed when it is repeated, provided that it took no effect. It may succeed on another
  /// connection, or after the server undid the transaction because of another one (40001, could not serialize; 40P01,
  /// deadlock).
  var isRepeatable: Bool {
    guard case .refused(let state, _) = self else { return true }
    return state == "40001" || state == "40P01"
  }

  /// Whether the server's disk is full.
  var isOfSpace: Bool {
    guard case .refused(let state, _) = self else { return false }
    return state == Self.diskFull
  }
  fileprivate static let diskFull = "53100"

  /// Whether the server refused the values of one statement. The SQLSTATE classes are 22, an invalid value; 23, a
  /// constraint; 54, a value that is too large; XX, a row that can't be read.
  var isOfValues: Bool {
    guard case .refused(let state, _) = self else { return false }
    return ["22", "23", "54", "XX"].contains(state.prefix(2))
  }

  var debugDescription: String {
    switch self {
    case .lost(let detail): "connection lost: \(detail)"
    case .readOnly(let detail): "no primary: \(detail)"
    case .refused(let state, let message): "\(state): \(message)"
    }
  }
}

extension ServiceError {
  /// Translates an error of PostgreSQL for a store. The result is never `absent`.
  init(_ error: PostgresError) {
    let detail = error.debugDescription
    guard case .refused(let state, _) = error else {
      self = error.isLost ? .unreachable(detail) : .readOnly(detail)
      return
    }
    switch state {
    case PostgresError.diskFull: self = .full(detail)
    // Lock not available: other nodes have written to the store for the whole `lock_timeout`.
    case "55P03":
      self.init(
        .overloaded, "Too many changes of this database wait; try again soon", detail: detail)
    // Data corrupted, or an internal error, such as a missing piece of a long value: a row can't be read. A repair finds
    // which one.
    case "XX000", "XX001": self = .integrity(detail)
    // Index corrupted, no such table, no such column: the database differs from what this version created.
    case "XX002", "42P01", "42703": self = .damaged(detail)
    // A table or an index of this name is there: the start makes tables only in a database that has none of them.
    case "42P07":
      self.init(
        .unavailable, "The database has tables of something else; use an empty one", detail: detail)
    // A constraint: the engine's writes violate one only if an index and its table disagree.
    case _ where state.hasPrefix("23"): self = .damaged(detail)
    // Insufficient resources; operator intervention; a transaction that was undone too often because of others.
    case _ where state.hasPrefix("53") || state.hasPrefix("57") || state.hasPrefix("40"):
      self = .unreachable(detail)
    default: self = .storage(detail)
    }
  }

  /// The error for a database that can't be reached or does not answer at present.
  static func unreachable(_ detail: String) -> ServiceError {
    ServiceError(.unavailable, "The database can't be reached at present", detail: detail)
  }

  /// The error while commits are not acknowledged.
  static func unconfirmed(_ detail: String) -> ServiceError {
    ServiceError(.outcomeUnknown, "The database acknowledges no writes at present", detail: detail)
  }

  /// The error for a write whose outcome is unknown.
  static func outcomeUnknown(_ detail: String) -> ServiceError {
    ServiceError(
      .outcomeUnknown,
      "It is not known whether the change took place; look before trying again", detail: detail)
  }

  /// Translates PostgreSQL's errors to errors of the service. Errors that a rule or a query threw stay unchanged.
  static func translated(_ error: any Error) -> any Error {
    (error as? PostgresError).map { ServiceError($0) } ?? error
  }
}
