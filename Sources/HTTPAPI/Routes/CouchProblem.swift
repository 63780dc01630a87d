import CouchSync
import Documents
import HTTPTypes
import Stores

/// CouchDB's words for what the layers below refuse.
enum CouchProblem {
  /// Runs a handler and gives every layer's error its words under `/couch`.
  /// - Throws: ``Problem`` for what CouchSync, Stores and Documents throw; anything else as it is.
  static func translating<Value>(_ run: () async throws -> Value) async throws -> Value {
    do {
      return try await run()
    } catch let error as CouchError {
      throw problem(error)
    } catch let error as StoreError {
      throw problem(CouchError(error))
    } catch let error as DocumentError {
      throw problem(CouchError(error))
    } catch let error as JSONError {
      throw problem(CouchError(error))
    }
  }

  /// The problem that a store's error is.
  static func problem(for error: StoreError) -> Problem { problem(CouchError(error)) }

  /// The problem that an error of the dialect is.
  static func problem(_ error: CouchError) -> Problem {
    var fields: HTTPFields = [:]
    // What may be gone soon is told so: CouchDB's replicator and PouchDB back off by themselves.
    if error.status == 429 || error.status == 503 { fields[.retryAfter] = "1" }
    return Problem(
      error.status == 507
        ? ErrorTable.insufficientStorage : HTTPResponse.Status(integerLiteral: error.status),
      error.error, error.reason, headers: fields, detail: error.detail)
  }

  /// The answer to a database that is not there or is another's: the same bytes for both.
  static let noDatabase = CouchError(.absent)

  /// The answer to what only the server's administrator may do, whether what it is about is there or not.
  static let notAdministrator = CouchError(403, "forbidden", "You are not a server admin.")

  /// The answer to what a caller may not do with a database that they may use.
  static func missing(_ right: CouchRole.Right) -> CouchError {
    switch right {
    case .use: noDatabase
    case .design, .compact, .purge:
      CouchError(403, "forbidden", "You are not a db or server admin.")
    case .secure: notAdministrator
    }
  }

  /// The answer to making a database that is there.
  static let databaseExists = CouchError(
    StoreError(.exists, "The database could not be created, the file already exists."))

  /// The answer to making a database of a name that none can have.
  static func illegalName(_ reason: String) -> CouchError {
    CouchError(400, "illegal_database_name", reason)
  }

  /// The answer to a part of CouchDB that is not offered.
  static func notOffered(_ what: String) -> CouchError {
    CouchError(501, "not_implemented", "\(what) not offered here")
  }
}
