import CouchQuery
import CouchSync
import Documents
import Hotels
import Stores

/// A store with documents, conflicts, tombstones and bookmarks, and short forms of reads.
struct ReadBench: Sendable {
  /// The stores of the engine.
  let stores: DatabaseManager
  /// The store that is read.
  let name: StoreName
  /// The bookmarks of the store.
  let hotels: HotelService

  /// Opens the stores of an engine while `use` runs.
  static func with<Value: Sendable>(
    _ engine: any StorageEngine, _ name: StoreName,
    _ use: @Sendable (ReadBench) async throws -> Value
  ) async throws -> Value {
    let now = Timestamp(seconds: 1_800_000_000)
    let stores = DatabaseManager(engine: engine, maximumOpen: 8, now: { now })
    let bench = ReadBench(
      stores: stores, name: name, hotels: HotelService(stores: stores, now: { now }))
    do {
      let value = try await use(bench)
      await stores.close()
      return value
    } catch {
      await stores.close()
      throw error
    }
  }

  /// The name of a user's store, by number.
  static func name(_ number: UInt64) throws -> StoreName {
    guard let id = AccountID(Hex.string(number, number)) else { throw ServiceError.absent }
    return .user(id)
  }

  /// Writes thirty documents, every third one with a conflict, every fourth one with a closed branch, every seventh one
  /// deleted; local documents, an index, and bookmarks of which some were removed.
  func fill() async throws {
    let all = Array(10..<40)
    try await graft(all) {
      #""_rev":"2-b","_revisions":{"start":2,"ids":["b","a"]},"n":\#($0),"type":"t""#
    }
    try await graft(all.filter { $0 % 3 == 0 }) {
      #""_rev":"2-c","_revisions":{"start":2,"ids":["c","a"]},"m":\#($0)"#
    }
    try await graft(all.filter { $0 % 4 == 0 }) { _ in
      #""_rev":"3-e","_revisions":{"start":3,"ids":["e","d","a"]},"_deleted":true"#
    }
    try await graft(all.filter { $0 % 7 == 0 }) { _ in
      #""_rev":"3-f","_revisions":{"start":3,"ids":["f","b","a"]},"_deleted":true"#
    }
    _ = try await couch { database in
      for number in 1...5 {
        let id = try LocalID(client: "_local/l\(number)")
        _ = try await database.putLocal(id, LocalWrite(Self.json(#"{"n":\#(number)}"#)))
      }
      _ = try await database.put(
        DocumentID("_design/views"), Self.json(#"{"language":"erlang","views":{}}"#))
      return try await database.createIndex(
        IndexRequest(Self.json(#"{"index":{"fields":["n"]},"ddoc":"i","name":"n"}"#)))
    }
    let hotels = (10..<26).map { #"{"id":"hotel_\#($0)","name":"Hotel \#($0)"}"# }
    try await change(#"{"add":[\#(hotels.joined(separator: ","))]}"#)
    try await change(#"{"add":[{"id":"late","name":"L"}],"remove":["hotel_12","hotel_20"]}"#)
  }

  private func graft(_ numbers: [Int], _ members: (Int) -> String) async throws {
    let docs = numbers.map { #"{"_id":"d\#($0)",\#(members($0))}"# }.joined(separator: ",")
    _ = try await couch { database in
      try await database.bulkDocuments(
        BulkRequest(Self.json(#"{"new_edits":false,"docs":[\#(docs)]}"#)))
    }
  }

  private func change(_ batch: String) async throws {
    _ = try await hotels.change(BookmarkBatch(parsing: Self.json(batch)), in: name, as: .server)
  }

  /// Asks the store's database.
  @discardableResult
  func couch<Value: Sendable>(
    _ use: @Sendable (CouchDatabase) async throws -> Value
  ) async throws -> Value {
    try await stores.withStore(name) { store in
      try await use(CouchDatabase(name: "db", store: store, as: .server, saying: \.description))
    }
  }

  /// The answers of several reads of the database, one after the other.
  func answers<Query: Sendable>(
    _ queries: [Query], _ ask: @Sendable (CouchDatabase, Query) async throws -> CouchAnswer
  ) async throws -> [[UInt8]] {
    try await couch { database in
      var answers: [[UInt8]] = []
      for query in queries { answers.append(try await ask(database, query).body) }
      return answers
    }
  }

  /// A request's body.
  static func json(_ text: String) throws -> JSONNode {
    try CouchBody.parse(Array(text.utf8), limits: CouchLimits.bulk)
  }

  /// The parameters of a query, written as in a URL without escapes.
  static func query(_ text: String) -> CouchParameters {
    CouchParameters(
      text.split(separator: "&").map { parameter in
        let parts = parameter.split(separator: "=", maxSplits: 1)
        return (name: String(parts[0]), value: String(parts[1]))
      })
  }
}
