import CouchQuery
import Documents
import Lanes
import Stores

/// One step of bringing an index up to date: changes, and the documents that they left behind. It is read in
/// slices; a document that changes between two of them comes again at its new number.
private struct IndexStep: Sendable {
  /// How far the index had come; nil for one that is not there.
  private(set) var from: Int64?
  /// The last change that the store knew of.
  private(set) var end: Int64 = 0
  /// Ids that changed, in order, each with its change's number and, where it is live, what it says.
  private(set) var changes: [(sequence: Int64, id: DocumentID, document: QueryCandidate?)] = []
  /// How far the changes reach.
  private(set) var reached: Int64 = 0

  private var hasBegun = false
  private var page = QueryPage(
    count: QueryLimits.catchUpChanges, bytes: QueryLimits.catchUpBytes, endsWithSlice: false)

  /// Reads on until the slice is over, by one change at least.
  /// - Returns: whether the step is whole.
  mutating func read(_ index: IndexID, _ view: any StoreView) throws -> Bool {
    if !hasBegun {
      from = try view.indexedSequence(index)
      end = try view.info().lastSequence
      reached = from ?? 0
      hasBegun = true
    }
    let wanted = QueryLimits.catchUpChanges - changes.count
    let batch = try view.changes(after: reached, limit: min(wanted, QueryLimits.catchUpBatch))
    for change in batch {
      let known = page.candidates.count
      let document = change.isDeleted ? nil : try view.document(change.id)
      try page.add(IndexEntry(id: change.id, key: []), document, in: view)
      let candidate = page.candidates.count > known ? page.candidates.last : nil
      changes.append((change.sequence, change.id, candidate))
      reached = change.sequence
      if page.isFull { return true }
      if Slice.isOver { return false }
    }
    guard batch.isEmpty else { return false }
    // Numbers behind the last change are of documents that were purged.
    reached = max(reached, end)
    return true
  }

  /// Whether the index has seen everything up to a change.
  func isDone(_ target: Int64) -> Bool { from.map { $0 >= target } ?? false }

  /// What the index is to take in, and how far that brings it. Stops where the budget is spent.
  func edit(
    _ definition: IndexDefinition, _ budget: inout SelectorBudget
  ) async throws -> (edit: IndexEdit, reached: Int64) {
    var documents: [DocumentID] = []
    var entries: [IndexEntry] = []
    var sequence = from ?? 0
    for change in changes {
      if let document = change.document {
        try await Slice.giveWay()
        let parsed = try document.parsed()
        let entry: IndexEntry?
        do { entry = try await definition.entry(for: change.id, parsed, &budget) } catch {
          guard budget.isSpent else { throw error }
          break
        }
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
  ) async throws -> Bool {
    let id = definition.id
    var target: Int64?
    var known: Int64 = -1
    while true {
      let step = try await indexStep(id)
      let goal = target ?? step.end
      target = goal
      if step.isDone(goal) { return true }
      // An index that falls back is being removed, for its definition is gone.
      guard step.from ?? -1 >= known else { return false }
      let (edit, reached) = try await step.edit(definition, &budget)
      let from = step.from
      do {
        let isFirst = try await store.update { changes in
          let isFirst = try changes.view.indexedSequence(id) == from
          if isFirst { changes.write(edit) }
          return isFirst
        }
        known = isFirst ? reached : from ?? -1
      } catch {
        switch ServiceError(error)?.code {
        case .storageFull, .readOnly, .overloaded, .quotaExceeded: return false
        default: throw error
        }
      }
      if budget.isSpent { throw SelectorBudget.spent }
    }
  }

  /// What an index would hold now, in its order: for a store that takes no writes. Without what the entries would
  /// keep, for all of them are in memory.
  /// - Throws: 400 `selector_too_costly` for a filter; what is wrong with the store.
  func entries(
    of definition: IndexDefinition, in range: IndexRange, _ budget: inout SelectorBudget
  ) async throws -> [IndexEntry] {
    let all = QueryPlan(
      index: .documents, part: .documents(DocumentRange()), isDescending: false)
    var walk = QueryWalk(self, all, after: nil)
    try await walk.begin(&budget)
    var entries: [IndexEntry] = []
    while true {
      let page = try await walk.next(QueryLimits.pageDocuments, &budget)
      guard !page.isEmpty else { break }
      for candidate in page {
        try await Slice.giveWay()
        let entry = try await definition.entry(
          for: candidate.place.id, try candidate.parsed(), &budget)
        if let entry, range.contains(entry.key) {
          entries.append(IndexEntry(id: entry.id, key: entry.key))
        }
      }
    }
    return try await entries.sortedInSlices { $0.precedes($1) }
  }

  /// Reads the next step.
  private func indexStep(_ id: IndexID) async throws -> IndexStep {
    try await store.read(inSlices: IndexStep()) { step, view in
      try step.read(id, view) ? step : nil
    }
  }
}

extension IndexRange {
  /// Whether a key is one of the range's.
  fileprivate func contains(_ key: [UInt8]) -> Bool {
    !key.lexicographicallyPrecedes(start) && (end.map { key.lexicographicallyPrecedes($0) } ?? true)
  }
}
