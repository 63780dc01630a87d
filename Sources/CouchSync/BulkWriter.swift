import Documents
import Lanes
import Stores

/// Writes many documents, each on its own terms.
struct BulkWriter {
  /// One document's revision, or why it was refused.
  typealias Outcome = Result<RevisionID?, CouchError>

  /// One document of a request.
  struct Item: Sendable {
    /// Its place in the request.
    let place: Int
    /// What is to be written.
    let write: DocumentWrite
  }

  /// Where the documents go.
  let store: DocumentStore
  /// What became of each, by its place in the request; nil for a place where nothing was to be written.
  private(set) var outcomes: [Outcome?]

  /// A writer into a store.
  /// - Parameter count: the places of the request.
  init(_ store: DocumentStore, count: Int) {
    self.store = store
    outcomes = Array(repeating: nil, count: count)
  }

  /// Writes items in few commits. Each takes documents for some ten milliseconds, so that others have their turn in
  /// between; all revisions of a document that are in one commit are one change.
  /// - Throws: what is wrong with the store, not with a document; `ended`, what was committed before stays.
  mutating func write(_ items: [Item]) async throws(StoreError) {
    for start in stride(from: 0, to: items.count, by: CouchLimits.commitDocuments) {
      try await commit(items[start..<min(start + CouchLimits.commitDocuments, items.count)])
    }
  }

  /// Commits items together. Where together they exceed the quota, halves are tried, so that what fits,
  /// and every deletion, is stored.
  private mutating func commit(_ items: ArraySlice<Item>) async throws(StoreError) {
    var rest = items
    while let first = rest.first {
      do {
        let decided = try await attempt(rest)
        for (item, outcome) in zip(rest, decided) { outcomes[item.place] = outcome }
        rest = rest.dropFirst(decided.count)
      } catch {
        guard error.code == .quotaExceeded else { throw error }
        guard rest.count > 1 else {
          outcomes[first.place] = .failure(CouchError(error))
          return
        }
        let middle = rest.startIndex + rest.count / 2
        try await commit(rest[..<middle])
        try await commit(rest[middle...])
        return
      }
      do { try await Slice.giveWay() } catch { throw .ended }
    }
  }

  /// Commits the first of some items: as many as are decided in the time of a commit, one at least.
  private func attempt(_ items: ArraySlice<Item>) async throws(StoreError) -> [Outcome] {
    let limit = store.revisionLimit
    return try await store.update(Set(items.map(\.write.id))) { view throws(StoreError) in
      var edits: [DocumentEdits] = []
      var places: [DocumentID: Int] = Dictionary(minimumCapacity: items.count)
      var outcomes: [Outcome] = []
      edits.reserveCapacity(items.count)
      outcomes.reserveCapacity(items.count)
      let end = ContinuousClock.now + CouchLimits.commitTime
      for item in items {
        let id = item.write.id
        let place = places[id] ?? edits.count
        if place == edits.count {
          edits.append(DocumentEdits(id, in: try view.tree(id), limit: limit))
          places[id] = place
        }
        do throws(StoreError) {
          outcomes.append(.success(try item.write.apply(to: &edits[place], in: view)))
        } catch {
          guard error.code == .rejected else { throw error }
          outcomes.append(.failure(CouchError(error)))
        }
        if ContinuousClock.now >= end { break }
      }
      var mutations: [Mutation] = []
      mutations.reserveCapacity(edits.count)
      for place in edits.indices {
        if let mutation = edits[place].finish() { mutations.append(mutation) }
      }
      return Decision(mutations, value: outcomes)
    }.value
  }
}
