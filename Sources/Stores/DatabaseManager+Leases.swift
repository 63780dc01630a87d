package import Documents

/// Leases for one read or one update. All of them throw the errors of ``DatabaseManager/withStore(_:creating:_:)``.
extension DatabaseManager {
  /// Reads one state of a store; nil for an absent store.
  package func read<Value: Sendable>(
    _ name: StoreName, _ query: @escaping StoreQuery<Value>
  ) async throws -> Value? {
    try await withStore(name, creating: false) { try await $0?.read(query) }
  }

  /// Reads a document or two of one state of a store; see ``StoreStorage/readInline(_:)``. Nil for an absent store.
  package func readInline<Value: Sendable>(
    _ name: StoreName, _ query: @escaping StoreQuery<Value>
  ) async throws -> Value? {
    try await withStore(name, creating: false) { try await $0?.readInline(query) }
  }

  /// Reads a store in slices; see ``DocumentStore/read(inSlices:_:)``. Nil for an absent store.
  package func read<Progress: Sendable, Value: Sendable>(
    _ name: StoreName, inSlices progress: Progress,
    _ step: @escaping @Sendable (inout Progress, any StoreView) throws -> Value?
  ) async throws -> Value? {
    try await withStore(name, creating: false) { try await $0?.read(inSlices: progress, step) }
  }

  /// What `find` finds for each element, in slices. Nil for an absent store.
  package func each<Element: Sendable, Found: Sendable>(
    _ elements: [Element], in name: StoreName,
    _ find: @escaping @Sendable (Element, any StoreView) throws -> Found
  ) async throws -> [Found]? {
    try await withStore(name, creating: false) { try await $0?.each(elements, find) }
  }

  /// Leases a store for one update; see ``DocumentStore/update(loading:as:answer:_:)``.
  /// - Parameter creating: whether to create an absent store.
  /// - Throws: also `absent`, and the errors of ``withStore(_:creating:_:)``.
  @discardableResult
  package func update<Value: Sendable>(
    _ name: StoreName, creating: Bool = true, loading ids: Set<DocumentID> = [],
    as context: WriteContext, answer: Answering<Value>? = nil, _ rule: @escaping UpdateRule<Value>
  ) async throws -> Value {
    try await withStore(name, creating: creating) { store in
      guard let store else { throw creating ? ServiceError.notMade : .absent }
      return try await store.update(loading: ids, as: context, answer: answer, rule)
    }
  }

  /// Updates a store if it exists; see ``DocumentStore/update(loading:as:answer:_:)``. Nil for an absent store.
  @discardableResult
  package func updateIfPresent<Value: Sendable>(
    _ name: StoreName, loading ids: Set<DocumentID> = [], as context: WriteContext,
    answer: Answering<Value>? = nil, _ rule: @escaping UpdateRule<Value>
  ) async throws -> Value? {
    try await withStore(name, creating: false) { store in
      try await store?.update(loading: ids, as: context, answer: answer, rule)
    }
  }
}
