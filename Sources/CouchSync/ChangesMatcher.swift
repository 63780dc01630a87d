import Documents
import Stores

/// Finds out what rows of `_changes` name, and counts what that costs. It can be kept from one read of the store to
/// the next, and goes on then within a document.
struct ChangesMatcher: Sendable {
  private let filter: ChangesFilter
  private let style: ChangesQuery.Style
  private var budget = SelectorBudget(
    total: .milliseconds(CouchLimits.pageMatchingMilliseconds))
  /// A change whose match is not done: what is known of its revisions, and the match of the next.
  private var begun:
    (
      change: Change, known: [RevisionID: Bool],
      unfinished: (revision: RevisionID, match: SelectorMatch)?
    )?
  /// Bytes of documents that were matched against a selector so far.
  private(set) var bytes = 0

  /// A matcher for a query.
  init(_ query: ChangesQuery) {
    filter = query.filter
    style = query.style
  }

  /// Whether a selector has taken all the time that there is.
  var isSpent: Bool { budget.isSpent }

  /// The revisions that a change's row names, the winner first; none for a change that is not wanted. Nil
  /// when a selector has taken all the time that there is, or the slice is over: then the same change asked for
  /// again goes on.
  ///
  /// As in CouchDB a selector looks at the revisions that the style names, tombstones too, and those that it
  /// does not match are left out.
  mutating func revisions(
    of change: Change, in view: any StoreView
  ) throws(StoreError) -> [RevisionID]? {
    switch filter {
    case .everything: return try named(change, in: view)
    case .documents(let ids): return ids.contains(change.id) ? try named(change, in: view) : []
    case .designs: return change.id.isDesign ? try named(change, in: view) : []
    case .selector(let selector): return try matching(selector, change, in: view)
    }
  }

  private func named(
    _ change: Change, in view: any StoreView
  ) throws(StoreError) -> [RevisionID] {
    guard style == .leaves, let tree = try view.tree(change.id) else { return [change.revision] }
    return tree.leaves.map(\.revision)
  }

  private mutating func matching(
    _ selector: Selector, _ change: Change, in view: any StoreView
  ) throws(StoreError) -> [RevisionID]? {
    let reader = try DocumentReader(
      change.id, in: view, extras: DocumentExtras(), needsTree: style == .leaves)
    guard let reader else { return [] }
    if begun?.change != change { begun = (change, [:], nil) }
    var matching: [RevisionID] = []
    for revision in style == .leaves ? reader.leaves : [reader.winningRevision] {
      let isMatch: Bool
      if let known = begun?.known[revision] {
        isMatch = known
      } else {
        guard let found = try match(selector, revision, reader) else { return nil }
        begun?.known[revision] = found
        isMatch = found
      }
      if isMatch { matching.append(revision) }
    }
    begun = nil
    return matching
  }

  /// Whether a revision matches; nil as in ``revisions(of:in:)``.
  private mutating func match(
    _ selector: Selector, _ revision: RevisionID, _ reader: DocumentReader
  ) throws(StoreError) -> Bool? {
    var match: SelectorMatch
    if let unfinished = begun?.unfinished, unfinished.revision == revision {
      match = unfinished.match
    } else {
      guard let document = try reader.revision(revision) else { return false }
      bytes += document.count
      match = selector.match(try Self.root(of: document))
    }
    let isMatch = match.next(&budget)
    guard !budget.isSpent else { return nil }
    begun?.unfinished = isMatch == nil ? (revision, match) : nil
    return isMatch
  }

  private static func root(of document: [UInt8]) throws(StoreError) -> JSONNode {
    do { return try ParsedJSON(document, limits: QueryLimits.stored).root } catch {
      throw StoreError(.integrity, "A stored document can't be read.")
    }
  }
}
