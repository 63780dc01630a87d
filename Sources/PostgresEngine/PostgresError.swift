import StoreRecords
import Stores

/// What PostgreSQL or the way to it answered instead of a result.
enum PostgresError: Error, CustomDebugStringConvertible {
  /// The connection is gone or of no use: whether what was under way took place is not known from this alone.
  case lost(String)
  /// The server takes no writes, since another one is the primary now: nothing of the transaction took place.
  case readOnly(String)
  /// The server refused a statement: five characters of SQLSTATE, and its words.
  /// <https://www.postgresql.org/docs/current/errcodes-appendix.html>
  case refused(state: String, String)

  /// An error as the server, or libpq in its place, sent it.
  ///
  /// The connection is of no use any more after severity FATAL and after these classes: 08, connection exception;
  /// 57P01 to 57P03, the server is shut down or starts; 25006, the server takes no writes; none, an error of libpq's
  /// own.
  init(severity: String, state: String, message: String) {
    let isLost =
      severity == "FATAL" || severity == "PANIC" || state.isEmpty || state.hasPrefix("08")
      || ["57P01", "57P02", "57P03"].contains(state)
    self =
      if isLost { .lost("\(state) \(message)") } else if state == "25006" {
        .readOnly("\(state) \(message)")
      } else { .refused(state: state, message) }
  }

  /// Whether the answer to what was sent last will never be known.
  var isLost: Bool {
    if case .lost = self { true } else { false }
  }

  /// Whether the connection is of no use any more.
  var isOfConnection: Bool {
    if case .refused = self { false } else { true }
  }

  /// Whether the same may succeed when it is done again, given that it did not take place: on another connection, or
  /// after the transaction was undone for another one's sake (40001, could not serialize; 40P01, deadlock).
  var isRepeatable: Bool {
    guard case .refused(let state, _) = self else { return true }
    return state == "40001" || state == "40P01"
  }

  /// Whether the refusal is of the values of one statement: 22, a value that can't be; 23, a constraint; 54, a value too
  /// large; XX, a row that can't be read.
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
  /// What a failure of PostgreSQL means for a store: never that the store is absent.
  init(_ error: PostgresError) {
    let detail = error.debugDescription
    guard case .refused(let state, _) = error else {
      self =
        error.isLost
        ? .unreachable(detail)
        : ServiceError(.readOnly, ServiceError.readOnly.reason, detail: detail)
      return
    }
    switch state {
    // Disk full.
    case "53100": self.init(.storageFull, ServiceError.full.reason, detail: detail)
    // Lock not available: other nodes write to the store without an end.
    case "55P03":
      self.init(
        .overloaded, "Too many changes of this database wait; try again soon", detail: detail)
    // Data corrupted, index corrupted; no such table or column: not what this version made.
    case "XX001", "XX002", "42P01", "42703": self = .damaged(detail)
    // A constraint: only an index that disagrees with its table refuses what the engine writes.
    case _ where state.hasPrefix("23"): self = .damaged(detail)
    // Insufficient resources; operator intervention; a transaction undone for another's sake too often.
    case _ where state.hasPrefix("53") || state.hasPrefix("57") || state.hasPrefix("40"):
      self = .unreachable(detail)
    default:
      self.init(.storage, "The storage could not be read or written", detail: detail)
    }
  }

  /// The error of a database that can't be reached, or does not answer, at present.
  static func unreachable(_ detail: String) -> ServiceError {
    ServiceError(.unavailable, "The database can't be reached at present", detail: detail)
  }

  /// The error of a write of which it is not known whether it took place.
  static func outcomeUnknown(_ detail: String) -> ServiceError {
    ServiceError(
      .outcomeUnknown,
      "It is not known whether the change took place; look before trying again", detail: detail)
  }

  /// What an error means to the engine's callers: PostgreSQL's become the service's, what a rule or a query threw stays
  /// what it is.
  static func translated(_ error: any Error) -> any Error {
    (error as? PostgresError).map { ServiceError($0) } ?? error
  }
}
