package import Documents
package import Stores

/// One store as a CouchDB database: the dialect's verbs, without HTTP. A value; good for as long as the
/// store's lease.
///
/// Source: CouchDB 3, "API reference: databases, documents, local documents".
package struct CouchDatabase: Sendable {
  /// The name that clients know the database by.
  package let name: String
  /// What keeps the documents.
  let store: DocumentStore
  /// Draws an id for a document that comes without one.
  let newID: @Sendable () -> DocumentID

  /// A database over a store.
  /// - Parameter newID: draws an id for a document that comes without one.
  package init(
    name: String, store: DocumentStore,
    newID: @escaping @Sendable () -> DocumentID = CouchDatabase.randomID
  ) {
    self.name = name
    self.store = store
    self.newID = newID
  }

  /// An id of 128 random bits.
  package static let randomID: @Sendable () -> DocumentID = {
    var generator = SystemRandomNumberGenerator()
    return .random(using: &generator)
  }

  /// Reads one state of the store.
  func reading<Value: Sendable>(
    _ query: @escaping @Sendable (any StoreView) throws(StoreError) -> Value
  ) async throws(CouchError) -> Value {
    do { return try await store.read(query) } catch { throw CouchError(error) }
  }

  /// Commits what a rule decides.
  func updating<Value: Sendable>(
    _ ids: Set<DocumentID>,
    _ decide: @escaping @Sendable (any StoreView) throws(StoreError) -> Decision<Value>
  ) async throws(CouchError) -> Value {
    do { return try await store.update(ids, decide).value } catch { throw CouchError(error) }
  }
}
