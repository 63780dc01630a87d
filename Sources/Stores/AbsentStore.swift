import Documents
import Scheduling

extension DatabaseManager {
  /// A substitute for a store that does not exist yet. Reads find nothing; an update that would write fails
  /// with `absent`.
  ///
  /// A guest's or user's store is created at the first write. Until then it is read as an empty store. The
  /// epoch of the substitute differs from the epoch of every store, so that a sequence number from it is
  /// known to be outdated when the store exists.
  package nonisolated func absent(_ name: StoreName) -> DocumentStore {
    DocumentStore(name: name, storage: AbsentStorage(), limits: limits(name), now: now)
  }
}

/// The storage of ``DatabaseManager/absent(_:)``.
private struct AbsentStorage: StoreStorage {
  func read<Value: Sendable>(
    _ query: @escaping StoreQuery<Value>
  ) async throws -> Value { try query(AbsentView(slice: Slice(of: Work.current))) }

  /// Runs the rule on an empty store. Purges and indexes have no effect.
  /// - Throws: `absent` for a rule that would write.
  func update<Value: Sendable>(
    loading ids: Set<DocumentID>, at now: Timestamp, _ rule: @escaping UpdateRule<Value>
  ) async throws -> Value {
    var changes = StoreChanges(of: AbsentView(slice: .endless))
    let value = try rule(&changes)
    guard changes.mutations.isEmpty, changes.locals.isEmpty else { throw ServiceError.absent }
    return value
  }

  func compact() async throws {}

  func close() async {}
}

private struct AbsentView: StoreView {
  let slice: Slice
  func document(_ id: DocumentID) throws -> Document? { nil }
  func tree(_ id: DocumentID) throws -> RevisionTree? { nil }
  func body(_ id: DocumentID, _ revision: RevisionID) throws -> [UInt8]? { nil }
  func kept(_ id: DocumentID, _ revision: RevisionID) throws -> KeptRevision? { nil }
  func documents(_ range: DocumentRange, _ visit: (Document) throws -> Bool) throws {}
  func changes(ofType type: String, after sequence: Int64, limit: Int) throws -> [Change] { [] }
  func changes(after sequence: Int64, limit: Int) throws -> [Change] { [] }
  func changes(upTo sequence: Int64, limit: Int) throws -> [Change] { [] }
  func changeCount(after sequence: Int64) throws -> Int64 { 0 }
  func count(
    _ range: DocumentRange, among ids: Int
  ) throws -> (count: Int, last: DocumentID?) { (0, nil) }
  func allLocals(
    _ range: DocumentRange, _ visit: (LocalID, LocalDocument?) throws -> Bool
  ) throws {}
  func localUsage(of prefix: String) throws -> (count: Int64, bytes: Int64) { (0, 0) }
  func expiredLocals(at moment: Timestamp, limit: Int) throws -> [LocalID] { [] }
  func indexedSequence(_ index: IndexID) throws -> Int64? { nil }
  func indexes() throws -> [IndexID] { [] }
  func entries(
    _ index: IndexID, _ range: IndexRange, _ visit: (IndexEntry) throws -> Bool
  ) throws {}
  func local(_ id: LocalID) throws -> LocalDocument? { nil }
  func fileBytes() throws -> Int64 { 0 }
  func holds(moreThan bytes: Int64) throws -> Bool { false }
  func storedBytes(of id: DocumentID) throws -> Int64 { 0 }
  func info() throws -> StoreInfo {
    StoreInfo(
      documentCount: 0, deletedCount: 0, lastSequence: 0, bodyBytes: 0,
      epoch: String(repeating: "0", count: 32))
  }
}
