import Documents
package import Stores

extension CouchDatabase {
  /// Begins a database that the administrator makes: with CouchDB 3's security, which lets nobody else in.
  /// That object stands for the making, so that of several who make it at once one has made it.
  /// - Throws: 412 `file_exists` when it was begun before.
  package func begin() async throws(CouchError) {
    try await updating([]) { view throws(StoreError) in
      guard try view.local(SecurityDocument.id) == nil else {
        throw StoreError(.exists, "The database exists already.")
      }
      let local = LocalDocument(revision: 1, body: SecurityDocument.standard.bytes)
      return Decision(locals: [LocalEdit(SecurityDocument.id, local)], value: ())
    }
  }

  /// `GET /{db}/_security`: who may use the database; CouchDB 3's default where nobody has said, as for
  /// everybody's own store, which is its owner's whatever this says.
  ///
  /// Source: CouchDB, "GET /{db}/_security".
  package func security() async throws(CouchError) -> CouchAnswer {
    CouchAnswer(try await SecurityDocument.stored(in: store).bytes)
  }

  /// `PUT /{db}/_security`: says who may use the database, from the next request on.
  ///
  /// Source: CouchDB, "PUT /{db}/_security".
  package func setSecurity(_ security: SecurityDocument) async throws(CouchError) -> CouchAnswer {
    try await updating([]) { view throws(StoreError) in
      let revision = try view.local(SecurityDocument.id)?.revision ?? 0
      let local = LocalDocument(revision: revision &+ 1, body: security.bytes)
      return Decision(locals: [LocalEdit(SecurityDocument.id, local)], value: ())
    }
    return CouchAnswer(Array(#"{"ok":true}"#.utf8))
  }
}

extension SecurityDocument {
  /// Where a store keeps it: a note of the service's own, which no client can name and nobody replicates.
  static let id = LocalID(receipt: "security")

  /// A store's own; ``standard`` where nobody has said.
  /// - Throws: 500 `integrity_error` for one that can't be read, so that nobody gets in by it.
  package static func stored(in store: DocumentStore) async throws(CouchError) -> SecurityDocument {
    let local: LocalDocument?
    do {
      local = try await store.read { view throws(StoreError) in try view.local(id) }
    } catch {
      throw CouchError(error)
    }
    guard let local else { return .standard }
    guard let root = try? ParsedJSON(local.body, limits: .small).root,
      let security = try? SecurityDocument(root)
    else { throw CouchError(StoreError(.integrity, "The database's security can't be read.")) }
    return security
  }
}
