import CouchSync
import Documents
import StoreTesting
import Stores
import Testing

@testable import HTTPAPI

/// A database over a store in memory, with short forms of its requests.
struct Couch: Sendable {
  let database: CouchDatabase
  let store: DocumentStore
  let reads: ReadCounter

  /// A new database.
  init(limits: StoreLimits = .full, in engine: MemoryEngine = MemoryEngine()) async throws {
    let name = StoreName.named(try #require(DatabaseName("db")))
    let storage = try #require(try await engine.open(name, creating: true) as? MemoryStorage)
    reads = storage.reads
    store = DocumentStore(
      name: name, storage: storage, limits: limits,
      now: { Timestamp(milliseconds: 1_000) })
    database = CouchDatabase(name: "db", store: store, as: .server, saying: ErrorTable.couchWord)
  }

  /// Writes a document and returns its revision's text.
  @discardableResult
  func put(_ id: String, _ body: String = "{}", rev: String? = nil) async throws -> String {
    let base = try BaseRevision(query: rev, ifMatch: nil)
    let answer = try await database.put(DocumentID(id), json(body), base: base)
    return try #require(answer.json["rev"]?.string)
  }

  /// Deletes a document and returns the tombstone's revision.
  @discardableResult
  func delete(_ id: String, rev: String?) async throws -> String {
    let base = try BaseRevision(query: rev, ifMatch: nil)
    let answer = try await database.delete(DocumentID(id), base: base)
    return try #require(answer.json["rev"]?.string)
  }

  /// Stores a peer's revision. Its history is newest first and has one revision per generation.
  func graft(_ id: String, _ history: String..., body: String = "", deleted: Bool = false)
    async throws
  {
    let revisions = try history.map { try RevisionID($0) }
    let ids = revisions.map { "\"\($0.digest.text)\"" }.joined(separator: ",")
    let start = try #require(revisions.first).generation
    let answer = try await bulk(
      """
      {"new_edits":false,"docs":[{"_id":"\(id)","_rev":"\(history[0])",
      "_revisions":{"start":\(start),"ids":[\(ids)]}\(deleted ? ",\"_deleted\":true" : "")\(body)}]}
      """)
    #expect(answer.text == "[]")
  }

  /// Reads a document with a query's parameters.
  func get(_ id: String, _ parameters: (String, String)...) async throws -> CouchAnswer {
    try await database.document(DocumentID(id), DocumentQuery(query(parameters)))
  }

  /// Sends `_bulk_docs`.
  func bulk(_ body: String) async throws -> CouchAnswer {
    try await database.bulkDocuments(BulkRequest(json(body)))
  }

  /// Sends `_bulk_get`.
  func bulkGet(_ body: String, _ parameters: (String, String)...) async throws -> CouchAnswer {
    try await database.bulkGet(BulkGetRequest(json(body), query(parameters)))
  }

  /// Reads a page of `_changes`.
  func changes(
    _ parameters: (String, String)..., body: String? = nil
  ) async throws -> ChangesPage {
    try await database.changes(ChangesQuery(query(parameters), body: body.map(json)))
  }

  func all(_ parameters: (String, String)..., body: String? = nil) async throws -> CouchAnswer {
    try await database.allDocuments(AllDocumentsQuery(query(parameters), body: body.map(json)))
  }

  /// The ids of the rows of `_all_docs`, joined.
  func ids(_ parameters: (String, String)...) async throws -> String {
    let answer = try await database.allDocuments(AllDocumentsQuery(query(parameters)))
    return (answer.json["rows"]?.array ?? []).compactMap { $0["id"]?.string }
      .joined(separator: " ")
  }

  /// The token of a sequence number in this database.
  func token(_ sequence: Int64) async throws -> String {
    let info = try await store.read { view in try view.info() }
    return SinceToken.at(sequence, in: info, of: StoreTag(store.name)).text
  }
}

/// Parses a request's body.
func json(_ text: String) throws -> JSONNode {
  try CouchBody.parse(Array(text.utf8), limits: CouchLimits.bulk)
}

/// Parameters as an HTTP adapter passes them.
func query(_ parameters: [(String, String)]) -> CouchParameters {
  CouchParameters(parameters.map { (name: $0.0, value: $0.1) })
}

/// The status and error code of a refusal, such as `409 conflict`; `none` for a success.
func refusal(_ call: () async throws -> some Any) async -> String {
  do {
    _ = try await call()
    return "none"
  } catch {
    guard let code = ServiceError(error)?.code else { return "another error" }
    let (status, word) = ErrorTable.row(code, in: .couch)
    return "\(status) \(word)"
  }
}

extension CouchAnswer {
  var text: String { String(decoding: body, as: UTF8.self) }
  var json: JSONValue { (try? JSONValue(parsing: body, limits: .request)) ?? .null }
}

extension ChangesPage {
  /// The rows' ids, joined.
  var ids: String { values.compactMap { $0["id"]?.string }.joined(separator: " ") }
  /// The rows as values.
  var values: [JSONValue] {
    (try? JSONValue(parsing: answer.body, limits: .request))?["results"]?.array ?? []
  }
}
