import Documents
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

  /// Writes items in few commits: an update can change a document once, so the second revision of a
  /// document goes into a second commit, and so on.
  /// - Throws: what is wrong with the store, not with a document.
  mutating func write(_ items: [Item]) async throws(StoreError) {
    for round in Self.rounds(items) {
      for start in stride(from: 0, to: round.count, by: CouchLimits.commitDocuments) {
        try await commit(round[start..<min(start + CouchLimits.commitDocuments, round.count)])
      }
    }
  }

  /// The items in groups that name no document twice, each document's in order.
  private static func rounds(_ items: [Item]) -> [[Item]] {
    // The usual case, in which nothing is copied.
    if Set(items.map(\.write.id)).count == items.count { return [items] }
    var rounds: [[Item]] = []
    var seen: [DocumentID: Int] = [:]
    for item in items {
      let round = seen[item.write.id, default: 0]
      seen[item.write.id] = round + 1
      if round == rounds.count { rounds.append([]) }
      rounds[round].append(item)
    }
    return rounds
  }

  /// Commits items together. Where together they exceed the quota, halves are tried, so that what fits,
  /// and every deletion, is stored.
  private mutating func commit(_ items: ArraySlice<Item>) async throws(StoreError) {
    do {
      for (item, outcome) in zip(items, try await attempt(items)) {
        outcomes[item.place] = outcome
      }
    } catch {
      guard error.code == .quotaExceeded, let first = items.first else { throw error }
      guard items.count > 1 else {
        outcomes[first.place] = .failure(CouchError(error))
        return
      }
      let middle = items.startIndex + items.count / 2
      try await commit(items[..<middle])
      try await commit(items[middle...])
    }
  }

  private func attempt(_ items: ArraySlice<Item>) async throws(StoreError) -> [Outcome] {
    let limit = store.revisionLimit
    return try await store.update(Set(items.map(\.write.id))) { view throws(StoreError) in
      var mutations: [Mutation] = []
      var outcomes: [Outcome] = []
      mutations.reserveCapacity(items.count)
      outcomes.reserveCapacity(items.count)
      for item in items {
        do throws(StoreError) {
          let decided = try item.write.decided(in: view, limit: limit)
          if let mutation = decided.mutation { mutations.append(mutation) }
          outcomes.append(.success(decided.revision))
        } catch {
          guard error.code == .rejected else { throw error }
          outcomes.append(.failure(CouchError(error)))
        }
      }
      return Decision(mutations, value: outcomes)
    }.value
  }
}
