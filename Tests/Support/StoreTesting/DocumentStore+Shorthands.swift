package import Documents
package import Stores

/// Reads and writes of tests that are about no author, deadline or receipt.
extension DocumentStore {
  /// The winner, which may be a tombstone.
  package func document(_ id: DocumentID) async throws -> Document? {
    try await readInline { view in try view.document(id) }
  }

  /// Updates the store as the server.
  @discardableResult
  package func update<Value: Sendable>(
    loading ids: Set<DocumentID> = [],
    _ rule: @escaping @Sendable (inout StoreChanges) throws -> Value
  ) async throws -> Value {
    try await update(loading: ids, as: .server, rule)
  }

  /// Adds a revision to a document; see ``StoreChanges/put(_:base:body:isDeleted:)``.
  @discardableResult
  package func put(
    _ id: DocumentID, base: RevisionID?, body: DocumentBody, as context: WriteContext = .server
  ) async throws -> RevisionID {
    try await update(loading: [id], as: context) { changes in
      try changes.put(id, base: base, body: body)
    }
  }

  /// Adds a tombstone to a document; see ``StoreChanges/delete(_:base:)``.
  @discardableResult
  package func delete(_ id: DocumentID, base: RevisionID?) async throws -> RevisionID {
    try await update(loading: [id]) { changes in try changes.delete(id, base: base) }
  }
}
