import CouchSync
import LiteSync
import Stores

/// A session of Couchbase Lite has the rights of `/couch`, which each operation looks up again.
extension CouchStore: LiteStore {
  func read<Value>(_ use: (CouchDatabase) async throws -> Value) async throws -> Value {
    try await read(needing: .use, use)
  }

  func write<Value>(_ use: (CouchDatabase) async throws -> Value) async throws -> Value {
    try await write(needing: .use, use)
  }
}
