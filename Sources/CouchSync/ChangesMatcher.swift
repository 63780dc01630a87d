import Documents
import Stores

/// Finds out what rows of `_changes` name, and counts what that costs.
struct ChangesMatcher {
  private let view: any StoreView
  private let filter: ChangesFilter
  private let style: ChangesQuery.Style
  private var budget = SelectorBudget(
    total: .milliseconds(CouchLimits.pageMatchingMilliseconds))
  /// Bytes of documents that were matched against a selector so far.
  private(set) var bytes = 0

  /// A matcher over one state.
  init(_ view: any StoreView, _ query: ChangesQuery) {
    self.view = view
    filter = query.filter
    style = query.style
  }

  /// The revisions that a change's row names, the winner first; none for a change that is not wanted. Nil
  /// when a selector has taken all the time that there is, so that nothing is known of this change.
  ///
  /// As in CouchDB a selector looks at the revisions that the style names, tombstones too, and those that it
  /// does not match are left out.
  mutating func revisions(of change: Change) throws(StoreError) -> [RevisionID]? {
    switch filter {
    case .everything: return try named(change)
    case .documents(let ids): return ids.contains(change.id) ? try named(change) : []
    case .designs: return change.id.isDesign ? try named(change) : []
    case .selector(let selector): return try matching(selector, change)
    }
  }

  private func named(_ change: Change) throws(StoreError) -> [RevisionID] {
    guard style == .leaves, let tree = try view.tree(change.id) else { return [change.revision] }
    return tree.leaves.map(\.revision)
  }

  private mutating func matching(
    _ selector: Selector, _ change: Change
  ) throws(StoreError) -> [RevisionID]? {
    let reader = try DocumentReader(
      change.id, in: view, extras: DocumentExtras(), needsTree: style == .leaves)
    guard let reader else { return [] }
    var revisions: [RevisionID] = []
    for revision in style == .leaves ? reader.leaves : [reader.winningRevision] {
      guard let document = try reader.revision(revision) else { continue }
      bytes += document.count
      let isMatch = selector.matches(try Self.root(of: document), &budget)
      guard !budget.isSpent else { return nil }
      if isMatch { revisions.append(revision) }
    }
    return revisions
  }

  private static func root(of document: [UInt8]) throws(StoreError) -> JSONNode {
    do { return try ParsedJSON(document, limits: QueryLimits.stored).root } catch {
      throw StoreError(.integrity, "A stored document can't be read.")
    }
  }
}
