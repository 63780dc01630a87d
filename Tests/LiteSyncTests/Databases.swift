import CouchSync
import Documents
import StoreTesting
import Stores
import Synchronization
import Testing

@testable import LiteSync

/// A database over a store in memory.
struct Database: LiteStore {
  let database: CouchDatabase
  let storage: any StoreStorage
  var documentLimits: DocumentLimits { .standard }
  var attachmentBytes: Int { AttachmentLimits.personBytes }

  func discard(_ uploads: [AttachmentUpload]) async {}

  init() async throws {
    try await self.init(.named(try #require(DatabaseName("db"))), as: .server)
  }

  init(_ name: StoreName, as author: Author) async throws {
    let storage = try await MemoryEngine().open(name, creating: true)
    self.init(name, as: author, over: try #require(storage))
  }

  init(_ name: StoreName, as author: Author, over storage: any StoreStorage) {
    self.storage = storage
    let store = DocumentStore(
      name: name, storage: storage, limits: .full, now: { Timestamp(milliseconds: 1_000) })
    database = CouchDatabase(
      name: "db", store: store, as: WriteContext(author: author), saying: { "\($0)" })
  }

  @discardableResult
  func put(_ id: String) async throws -> String? {
    let former = try await database.store.read { view in
      try view.document(DocumentID(id))?.revision
    }
    let text = former.map { #"{"_rev":"\#($0)"}"# } ?? "{}"
    let body = try ParsedJSON(Array(text.utf8), limits: .document).root
    return try await database.put(DocumentID(id), body).revision?.description
  }

  func read<Value>(_ use: (CouchDatabase) async throws -> Value) async throws -> Value {
    try await use(database)
  }

  func write<Value>(_ use: (CouchDatabase) async throws -> Value) async throws -> Value {
    try await use(database)
  }
}

/// A database whose client may not use it any more.
struct LostDatabase: LiteStore {
  var error = ServiceError.absent
  var documentLimits: DocumentLimits { .standard }
  var attachmentBytes: Int { AttachmentLimits.personBytes }

  func discard(_ uploads: [AttachmentUpload]) async {}

  func read<Value>(_ use: (CouchDatabase) async throws -> Value) async throws -> Value {
    throw error
  }

  func write<Value>(_ use: (CouchDatabase) async throws -> Value) async throws -> Value {
    throw error
  }
}

/// A database that nothing can be written to now. It counts what is discarded.
final class EndingDatabase: LiteStore {
  private let discarded = Mutex(0)
  var discardedCount: Int { discarded.withLock { $0 } }
  var documentLimits: DocumentLimits { .standard }
  var attachmentBytes: Int { AttachmentLimits.personBytes }

  func discard(_ uploads: [AttachmentUpload]) async {
    discarded.withLock { $0 += uploads.count }
  }

  func read<Value>(_ use: (CouchDatabase) async throws -> Value) async throws -> Value {
    throw ServiceError(.unavailable, "Not now")
  }

  func write<Value>(_ use: (CouchDatabase) async throws -> Value) async throws -> Value {
    throw ServiceError(.unavailable, "Not now")
  }
}
