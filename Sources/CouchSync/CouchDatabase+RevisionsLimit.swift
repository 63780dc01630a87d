package import Documents
import Stores

extension CouchDatabase {
  /// `GET /{db}/_revs_limit`: how many revision ids are kept along a branch, a bare number.
  package func revisionsLimit() async throws(CouchError) -> CouchAnswer {
    let store = store
    let limits = try await glancing { view throws(StoreError) in try store.historyLimits(in: view) }
    return CouchAnswer(JSONValue.number(JSONNumber(limits.revisions)).bytes)
  }

  /// `PUT /{db}/_revs_limit`: says how many are kept from the next write of a document on. People's own stores keep
  /// what merging bookmarks needs.
  ///
  /// Source: CouchDB, "PUT /{db}/_revs_limit".
  /// - Throws: 400 for anything but a number from 1 to what the server keeps; 403 for a person's own store.
  package func setRevisionsLimit(_ body: JSONNode) async throws(CouchError) -> CouchAnswer {
    guard case .named = store.name else {
      throw CouchError(403, "forbidden", "The limit of people's own stores is the server's")
    }
    guard let limit = body.int, (1...store.historyLimits.revisions).contains(limit) else {
      throw .badRequest(
        "`_revs_limit` is a whole number from 1 to \(store.historyLimits.revisions)")
    }
    let note: JSONValue = [DocumentStore.limitMember: .number(JSONNumber(limit))]
    try await updating([]) { _ throws(StoreError) in
      let edit = LocalEdit(
        DocumentStore.limitID, LocalDocument(revision: 1, body: note.bytes))
      return Decision(locals: [edit], value: ())
    }
    return CouchAnswer(Array(#"{"ok":true}"#.utf8))
  }
}

extension DocumentStore {
  /// Where a database keeps the limit that it was given: a note of the service's own.
  static let limitID = LocalID(receipt: "revs_limit")
  /// The note's one member.
  static let limitMember = "limit"

  /// How much history a write keeps: along a branch what the database was given, or the server's limit.
  func historyLimits(in view: any StoreView) throws(StoreError) -> HistoryLimits {
    var limits = historyLimits
    guard case .named = name, let note = try view.local(Self.limitID) else { return limits }
    let given = (try? ParsedJSON(note.body, limits: .small))?.root[Self.limitMember]?.int
    limits.revisions = min(given ?? limits.revisions, limits.revisions)
    return limits
  }
}
