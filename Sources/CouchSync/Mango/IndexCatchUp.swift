import Documents
import Stores

/// One step of bringing an index up to date: changes, and the documents that they left behind, from one
/// state of a store.
private struct IndexStep: Sendable {
  /// How far the index had come; nil for one that is not there.
  let from: Int64?
  /// The last change that the store knew of.
  let end: Int64
  /// Ids that changed, in order, each with its change's number and, where it is live, what it says.
  private(set) var changes: [(sequence: Int64, id: DocumentID, document: QueryCandidate?)] = []
  /// How far the changes reach.
  private(set) var reached: Int64 = 0

  /// Reads a step.
  init(_ index: IndexID, _ view: any StoreView) throws(StoreError) {
    from = try view.indexedSequence(index)
    end = try view.info().lastSequence
    reached = from ?? 0
    let batch = try view.changes(after: reached, limit: QueryLimits.catchUpChanges)
    var page = QueryPage(count: batch.count, bytes: QueryLimits.catchUpBytes)
    for change in batch where !page.isFull {
      let known = page.candidates.count
      let document = change.isDeleted ? nil : try view.document(change.id)
      try page.add(IndexEntry(id: change.id, key: []), document, in: view)
      let candidate = page.candidates.count > known ? page.candidates.last : nil
      changes.append((change.sequence, change.id, candidate))
      reached = change.sequence
    }
    // Numbers behind the last change are of documents that were purged.
    if batch.count < QueryLimits.catchUpChanges, changes.count == batch.count { reached = end }
  }

  /// Whether the index has seen everything up to a change.
  func isDone(_ target: Int64) -> Bool { from.map { $0 >= target } ?? false }

  /// What the index is to take in, and how far that brings it. Stops where the budget is spent.
  func edit(
    _ definition: IndexDefinition, _ budget: inout SelectorBudget
  ) throws(CouchError) -> (edit: IndexEdit, reached: Int64) {
    var documents: [DocumentID] = []
    var entries: [IndexEntry] = []
    var sequence = from ?? 0
    for change in changes {
      if let document = change.document {
        let entry = definition.entry(for: change.id, try document.parsed(), &budget)
        if budget.isSpent { break }
        if let entry { entries.append(entry) }
      }
      documents.append(change.id)
      sequence = change.sequence
    }
    if !budget.isSpent { sequence = reached }
    return (
      .advance(definition.id, documents: documents, entries: entries, sequence: sequence), sequence
    )
  }
}

extension CouchDatabase {
  /// Brings an index up to the store's present state, in steps that hold up nobody for long: documents are
  /// read in one state, and what they say is written if nobody else has been faster.
  /// - Parameter budget: what the index's filter may cost; what was done before it is spent stays done.
  /// - Returns: false when the index can't be used: the store takes no writes now, or the index is being
  ///   removed.
  /// - Throws: 400 `selector_too_costly` for a filter; what is wrong with the store.
  func bringUpToDate(
    _ definition: IndexDefinition, _ budget: inout SelectorBudget
  ) async throws(CouchError) -> Bool {
    let id = definition.id
    var target: Int64?
    var known: Int64 = -1
    while true {
      let step = try await reading { view throws(StoreError) in try IndexStep(id, view) }
      let goal = target ?? step.end
      target = goal
      if step.isDone(goal) { return true }
      // An index that falls back is being removed, for its definition is gone.
      guard step.from ?? -1 >= known else { return false }
      let (edit, reached) = try step.edit(definition, &budget)
      let from = step.from
      do {
        let isFirst = try await store.update([]) { view throws(StoreError) in
          let isFirst = try view.indexedSequence(id) == from
          var decision = Decision(value: isFirst)
          if isFirst { decision.indexes = [edit] }
          return decision
        }.value
        known = isFirst ? reached : from ?? -1
      } catch {
        switch error.code {
        case .storageFull, .readOnly, .overloaded, .quotaExceeded: return false
        default: throw CouchError(error)
        }
      }
      if budget.isSpent { throw SelectorBudget.spent }
    }
  }

  /// What an index would hold now, in its order: for a store that takes no writes.
  /// - Throws: 400 `selector_too_costly` for a filter; what is wrong with the store.
  func entries(
    of definition: IndexDefinition, in range: IndexRange, _ budget: inout SelectorBudget
  ) async throws(CouchError) -> [IndexEntry] {
    let all = QueryPlan(
      index: .documents, part: .documents(DocumentRange()), isDescending: false)
    var walk = QueryWalk(self, all, after: nil)
    try await walk.begin(&budget)
    var entries: [IndexEntry] = []
    while true {
      let page = try await walk.next(QueryLimits.pageDocuments, &budget)
      guard !page.isEmpty else { break }
      for candidate in page {
        let entry = definition.entry(for: candidate.place.id, try candidate.parsed(), &budget)
        if budget.isSpent { throw SelectorBudget.spent }
        if let entry, range.contains(entry.key) { entries.append(entry) }
      }
    }
    return entries.sorted { $0.precedes($1) }
  }
}

extension IndexRange {
  /// Whether a key is one of the range's.
  fileprivate func contains(_ key: [UInt8]) -> Bool {
    !key.lexicographicallyPrecedes(start) && (end.map { key.lexicographicallyPrecedes($0) } ?? true)
  }
}
