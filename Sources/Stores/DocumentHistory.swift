package import Documents
import Scheduling

/// One revision in a document's history.
package struct PastRevision: Sendable, Equatable {
  package let revision: RevisionID
  /// The revision's parent; nil for the first revision, and when the parent is forgotten.
  package let parent: RevisionID?
  package let isDeleted: Bool
  /// Whether the revision is the winner.
  package let isCurrent: Bool
  /// Whether the revision is a conflict: a live leaf that is not the winner.
  package let isConflicting: Bool
  /// What is known of the revision; nil when its body was removed.
  package fileprivate(set) var kept: KeptRevision?
}

/// A page of a document's history. The order is newest first: by generation, then by digest.
///
/// Times do not define the order, because some are unknown and clocks can be wrong. A write during the
/// reading of pages moves no revision to another page.
package struct HistoryPage: Sendable, Equatable {
  package static let maximumRevisions = 100

  package let revisions: [PastRevision]
  /// The last revision of the page, after which the next page begins; nil on the last page.
  package let next: RevisionID?
}

/// Reads a page in slices: the tree, then the page's revisions in it, then what is known of each.
struct HistoryReader: Sendable {
  private let id: DocumentID
  private let limit: Int
  private let after: RevisionID?
  private var page: [PastRevision] = []
  private var hasMore = false
  /// The history; nil before it is read.
  private var tree: RevisionTree?
  /// The indices of the newest revisions among those that were scanned, and some more.
  private var newest: [Int] = []
  /// How many revisions of the tree were scanned.
  private var scanned = 0
  private var isListed = false
  /// Revisions that are close enough to a leaf. The store keeps no bodies of others, so they are not looked
  /// up.
  private var near: Set<RevisionID> = []
  private var next = 0

  init(_ id: DocumentID, limit: Int, after: RevisionID?) {
    self.id = id
    self.limit = min(max(limit, 1), HistoryPage.maximumRevisions)
    self.after = after
  }

  /// Continues to read, in this state of the store, until the slice is over.
  /// - Returns: nil while the page is not complete. Then the page, or an inner nil for an id that was never
  ///   used.
  mutating func read(_ view: any StoreView) throws -> HistoryPage?? {
    if tree == nil {
      tree = try view.tree(id)
      if tree != nil, view.slice.isOver { return nil }
    }
    guard let tree else { return .some(nil) }
    if !isListed {
      guard scan(tree, within: view.slice) else { return nil }
      list(tree)
      isListed = true
      if view.slice.isOver { return nil }
    }
    while next < page.count {
      if near.contains(page[next].revision) {
        page[next].kept = try view.kept(id, page[next].revision)
      }
      next += 1
      if view.slice.isOver, next < page.count { return nil }
    }
    return HistoryPage(revisions: page, next: hasMore ? page.last?.revision : nil)
  }

  /// Finds the page's revisions, and one more if there is one. A tree may have tens of thousands of revisions, so never
  /// more than a few pages of them are sorted.
  /// - Returns: whether all revisions were scanned.
  private mutating func scan(_ tree: RevisionTree, within slice: Slice) -> Bool {
    while scanned < tree.nodes.count {
      let index = scanned
      scanned += 1
      if let after, !(tree.nodes[index].revision < after) { continue }
      newest.append(index)
      guard newest.count > 4 * (limit + 1) else { continue }
      cut(tree)
      if slice.isOver { return false }
    }
    cut(tree)
    return true
  }

  private mutating func cut(_ tree: RevisionTree) {
    let sorted = newest.sorted { tree.nodes[$0].revision > tree.nodes[$1].revision }
    newest = Array(sorted.prefix(limit + 1))
  }

  private mutating func list(_ tree: RevisionTree) {
    near = tree.revisions(withinSteps: StoreLimits.storedAncestors)
    hasMore = newest.count > limit
    let winner = tree.winner?.revision
    page = newest.prefix(limit).map { index in
      let node = tree.nodes[index]
      let isCurrent = node.revision == winner
      return PastRevision(
        revision: node.revision, parent: node.parent.map { tree.nodes[$0].revision },
        isDeleted: node.isDeleted, isCurrent: isCurrent,
        isConflicting: node.isLeaf && !node.isDeleted && !isCurrent)
    }
  }
}

extension DocumentStore {
  /// A page of a document's history.
  /// - Parameter limit: how many revisions, at most ``HistoryPage/maximumRevisions``.
  /// - Parameter after: the last revision of the page before; nil for the first page. The revision may be
  ///   forgotten meanwhile.
  /// - Returns: nil for an id that was never used.
  /// - Throws: the store's errors.
  package func history(
    of id: DocumentID, limit: Int, after: RevisionID? = nil
  ) async throws -> HistoryPage? {
    try await read(inSlices: HistoryReader(id, limit: limit, after: after)) { reader, view in
      try reader.read(view)
    }
  }

  /// One revision of a document, as stored.
  /// - Returns: nil for an unknown revision.
  /// - Throws: the errors of ``StoreView/revision(_:of:)``.
  package func revision(_ revision: RevisionID, of id: DocumentID) async throws -> Document? {
    try await read { view in try view.revision(revision, of: id) }
  }
}

extension StoreView {
  /// One revision of a document, with the document's sequence number and times.
  /// - Returns: nil for an unknown revision.
  /// - Throws: `missing` when its body was removed.
  package func revision(_ revision: RevisionID, of id: DocumentID) throws -> Document? {
    guard let winner = try document(id) else { return nil }
    if winner.revision == revision { return winner }
    guard let tree = try tree(id), let node = tree[revision] else { return nil }
    guard let body = try body(id, of: node, in: tree) else {
      throw ServiceError(
        .missing,
        "What revision \(revision) said is no longer kept: a store keeps at most "
          + "\(StoreLimits.storedAncestors) revisions behind each leaf, fewer when it fills up")
    }
    return Document(
      id: id, revision: revision, isDeleted: node.isDeleted, sequence: winner.sequence,
      created: winner.created, updated: winner.updated, body: body)
  }
}
