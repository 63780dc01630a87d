import CouchQuery
import Documents
import JSON
import Lanes
import Stores

/// Finds out what rows of `_changes` name, and counts what that costs.
struct ChangesMatcher: Sendable {
  private let filter: ChangesFilter
  private let style: ChangesQuery.Style
  private var budget = SelectorBudget(
    total: .milliseconds(CouchLimits.pageMatchingMilliseconds))
  /// Bytes of documents that were matched against a selector so far.
  private(set) var bytes = 0

  /// The change that a slice did not come to the end of.
  private var begun: Look?

  /// How far a selector has looked at a document, which is the same as long as its last change is.
  private struct Look: Sendable {
    let sequence: Int64
    let reader: DocumentReader
    let revisions: [RevisionID]
    var next = 0
    var matched: [RevisionID] = []
    /// How far the next revision was looked at.
    var unfinished: SelectorMatch?
  }

  /// A matcher of a query's rows.
  init(_ query: ChangesQuery) {
    filter = query.filter
    style = query.style
  }

  /// What became of a change.
  enum Match: Sendable {
    /// The revisions that its row names, the winner first; none for a change that is not wanted. And the document's
    /// tree, where it was looked at.
    case named([RevisionID], RevisionTree?)
    /// A selector has taken all the time that there is, so that nothing is known of it.
    case spent
    /// The slice was over; the same change is asked for again in the next.
    case unfinished
  }

  /// Finds out what a change's row names.
  ///
  /// As in CouchDB a selector looks at the revisions that the style names, tombstones too, and those that it
  /// does not match are left out.
  mutating func match(_ change: Change, in view: any StoreView) throws -> Match {
    switch filter {
    case .everything: try named(change, in: view)
    case .documents(let ids):
      ids.contains(change.id) ? try named(change, in: view) : .named([], nil)
    case .designs: change.id.isDesign ? try named(change, in: view) : .named([], nil)
    case .selector(let selector): try matching(selector, change, in: view)
    case .function: .named([], nil)
    }
  }

  private func named(
    _ change: Change, in view: any StoreView
  ) throws -> Match {
    guard style == .leaves, let tree = try view.tree(change.id) else {
      return .named([change.revision], nil)
    }
    return .named(tree.leaves.map(\.revision), tree)
  }

  private mutating func matching(
    _ selector: Selector, _ change: Change, in view: any StoreView
  ) throws -> Match {
    var look: Look
    if let begun, begun.sequence == change.sequence {
      look = begun
    } else {
      let reader = try DocumentReader(
        change.id, in: view, extras: DocumentExtras(), needsTree: style == .leaves)
      guard let reader else { return .named([], nil) }
      look = Look(
        sequence: change.sequence, reader: reader,
        revisions: style == .leaves ? reader.leaves : [reader.winningRevision])
    }
    begun = nil
    while look.next < look.revisions.count {
      let revision = look.revisions[look.next]
      if look.unfinished == nil {
        look.unfinished = try begin(selector, revision, look.reader, view)
      }
      guard var match = look.unfinished else {
        look.next += 1
        continue
      }
      let isMatch = match.next(&budget)
      guard !budget.isSpent else { return .spent }
      look.unfinished = isMatch == nil ? match : nil
      if let isMatch {
        look.next += 1
        if isMatch { look.matched.append(revision) }
      }
      if isMatch == nil || Slice.isOver && look.next < look.revisions.count {
        begun = look
        return .unfinished
      }
    }
    return .named(look.matched, nil)
  }

  /// Begins to look at a revision; nil for one whose body is gone.
  private mutating func begin(
    _ selector: Selector, _ revision: RevisionID, _ reader: DocumentReader, _ view: any StoreView
  ) throws -> SelectorMatch? {
    guard let document = try reader.revision(revision, in: view) else { return nil }
    bytes += document.count
    return selector.match(try Self.root(of: document))
  }

  private static func root(of document: [UInt8]) throws -> JSONNode {
    do { return try ParsedJSON(document, limits: .stored).root } catch {
      throw ServiceError(.integrity, "A stored document can't be read.")
    }
  }
}
