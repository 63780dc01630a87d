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
  /// Whether design documents may be written.
  let mayDesign: Bool
  /// Whether there is memory for an answer that has grown to so many bytes.
  let holdsAnswer: @Sendable (Int) -> Bool

  /// A database over a store.
  /// - Parameter mayDesign: whether design documents may be written; CouchDB lets no mere member do that.
  /// - Parameter holdsAnswer: accounts for an answer that has grown to so many bytes; answers whether there is
  ///   memory for it.
  /// - Parameter newID: draws an id for a document that comes without one.
  package init(
    name: String, store: DocumentStore, mayDesign: Bool = true,
    holdsAnswer: @escaping @Sendable (Int) -> Bool = { _ in true },
    newID: @escaping @Sendable () -> DocumentID = CouchDatabase.randomID
  ) {
    self.name = name
    self.store = store
    self.mayDesign = mayDesign
    self.holdsAnswer = holdsAnswer
    self.newID = newID
  }

  /// An id of 128 random bits.
  package static let randomID: @Sendable () -> DocumentID = {
    var generator = SystemRandomNumberGenerator()
    return .random(using: &generator)
  }

  /// How large documents may be.
  package var documentLimits: DocumentLimits { DocumentLimits(store.quota) }

  /// Reads one state of the store.
  func reading<Value: Sendable>(
    _ query: @escaping @Sendable (any StoreView) throws(StoreError) -> Value
  ) async throws(CouchError) -> Value {
    do { return try await store.read(query) } catch { throw CouchError(error) }
  }

  /// Reads in slices, between which others have their turn; see ``DocumentStore/read(inSlices:_:)``.
  func reading<Progress: Sendable, Value: Sendable>(
    inSlices progress: Progress,
    _ step: @escaping @Sendable (inout Progress, any StoreView) throws(StoreError) -> Value?
  ) async throws(CouchError) -> Value {
    do { return try await store.read(inSlices: progress, step) } catch { throw CouchError(error) }
  }

  /// Reads a document or two of one state of the store.
  func glancing<Value: Sendable>(
    _ query: @escaping @Sendable (any StoreView) throws(StoreError) -> Value
  ) async throws(CouchError) -> Value {
    do { return try await store.readInline(query) } catch { throw CouchError(error) }
  }

  /// Commits what a rule decides.
  /// - Throws: besides, 403 `forbidden` for a design document that may not be written.
  func updating<Value: Sendable>(
    _ ids: Set<DocumentID>,
    _ decide: @escaping @Sendable (any StoreView) throws(StoreError) -> Decision<Value>
  ) async throws(CouchError) -> Value {
    for id in ids { try checkDesign(id) }
    do { return try await store.update(ids, decide).value } catch { throw CouchError(error) }
  }

  /// - Throws: 403 `forbidden` for a design document that may not be written.
  func checkDesign(_ id: DocumentID) throws(CouchError) {
    guard mayDesign || !id.isDesign else {
      throw CouchError(403, "forbidden", "You are not a db or server admin.")
    }
  }
}
