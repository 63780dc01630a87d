import CouchQuery
import Documents
import Scheduling
import Stores

/// Finds the revisions for the rows of `_changes`, and counts the cost.
struct ChangesMatcher: Sendable {
  private let filter: ChangesFilter
  private let style: ChangesQuery.Style
  private var budget = SelectorBudget(total: .milliseconds(CouchLimits.pageMatchingMilliseconds))
  /// The bytes of documents that were matched against a selector so far.
  private(set) var bytes = 0

  /// The change whose matching the last slice did not finish.
  private var begun: Look?

  /// How far a selector has been matched against a document. It stays valid until the document changes again.
  private struct Look: Sendable {
    let sequence: Int64
    let reader: DocumentReader
    let revisions: [RevisionID]
    var next = 0
    var matched: [RevisionID] = []
    /// How far the next revision was matched.
    var unfinished: SelectorMatch?
  }

  init(_ query: ChangesQuery) {
    filter = query.filter
    style = query.style
  }

  enum Match: Sendable {
    /// The revisions for its row, the winner first, and the document's tree when it was read. No revisions for a change
    /// that the filter excludes.
    case named([RevisionID], RevisionTree?)
    /// The selector has used all available time, so the result is unknown.
    case spent
    /// The slice is over; the next slice asks for the same change again.
    case unfinished
  }

  /// Finds the revisions for a change's row.
  ///
  /// As in CouchDB, a selector is matched against the revisions of the style, tombstones included, and those that it
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

  private func named(_ change: Change, in view: any StoreView) throws -> Match {
    guard style == .leaves, let tree = try view.newest(change.id) else {
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
      let isMatch = match.next(&budget, within: view.slice)
      guard !budget.isSpent else { return .spent }
      look.unfinished = isMatch == nil ? match : nil
      if let isMatch {
        look.next += 1
        if isMatch { look.matched.append(revision) }
      }
      if isMatch == nil || view.slice.isOver && look.next < look.revisions.count {
        begun = look
        return .unfinished
      }
    }
    return .named(look.matched, nil)
  }

  /// Begins to match a revision; nil for one without a body.
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
