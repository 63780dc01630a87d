package import Documents
package import Stores

/// A store in which documents or local documents can't be read. Updates read all of them.
package struct DamagedStorage: StoreStorage {
  private let storage: any StoreStorage
  private let ids: Set<String>

  package init(_ storage: any StoreStorage, without ids: Set<String>) {
    (self.storage, self.ids) = (storage, ids)
  }

  package var isNew: Bool { storage.isNew }
  package var isEnded: Bool { storage.isEnded }

  package func read<Value: Sendable>(
    _ query: @escaping @Sendable (any StoreView) throws -> Value
  ) async throws -> Value {
    try await storage.read { [ids] in try query(InterruptedView($0, after: .max, damaged: ids)) }
  }

  package func readInline<Value: Sendable>(
    _ query: @escaping @Sendable (any StoreView) throws -> Value
  ) async throws -> Value {
    try await storage.readInline { [ids] in
      try query(InterruptedView($0, after: .max, damaged: ids))
    }
  }

  package func update<Value: Sendable>(
    loading ids: Set<DocumentID>, at now: Timestamp,
    _ rule: @escaping @Sendable (inout StoreChanges) throws -> Value
  ) async throws -> Value { try await storage.update(loading: ids, at: now, rule) }

  package func compact() async throws { try await storage.compact() }
  package func repair(
    _ extent: RepairOutcome.Extent, at now: Timestamp, pause: Duration
  ) async throws -> RepairOutcome { RepairOutcome() }
  package func close() async { await storage.close() }
}
