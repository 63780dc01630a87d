package import Documents
package import Stores

/// A store in which one document can't be read.
package struct DamagedStorage: StoreStorage {
  private let storage: any StoreStorage
  private let id: DocumentID

  package init(_ storage: any StoreStorage, without id: DocumentID) {
    (self.storage, self.id) = (storage, id)
  }

  package var isNew: Bool { storage.isNew }
  package var isEnded: Bool { storage.isEnded }

  package func read<Value: Sendable>(
    _ query: @escaping @Sendable (any StoreView) throws -> Value
  ) async throws -> Value {
    try await storage.read { [id] in try query(InterruptedView($0, after: .max, damaged: id)) }
  }

  package func readInline<Value: Sendable>(
    _ query: @escaping @Sendable (any StoreView) throws -> Value
  ) async throws -> Value {
    try await storage.readInline { [id] in try query(InterruptedView($0, after: .max, damaged: id))
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
