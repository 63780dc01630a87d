package import Documents
import Lanes

/// One revision in a document's history.
package struct PastRevision: Sendable, Equatable {
  /// The revision.
  package let revision: RevisionID
  /// The one that it goes on from; nil for the first, and where that is forgotten.
  package let parent: RevisionID?
  /// Whether it is a tombstone.
  package let isDeleted: Bool
  /// Whether it stands for the document.
  package let isCurrent: Bool
  /// Whether it is a live leaf beside the one that stands for the document.
  package let isConflicting: Bool
  /// What is known of it; nil where its body was compacted away.
  package fileprivate(set) var kept: KeptRevision?
}

/// A page of a document's history, newest first: by generation, and those of one generation by digest, for the times
/// of some are not known, and clocks are wrong. What is written meanwhile moves no revision to another page.
package struct HistoryPage: Sendable, Equatable {
  /// How many revisions a page has at most.
  package static let maximumRevisions = 100

  /// The revisions.
  package let revisions: [PastRevision]
  /// The last of them, after which the next page begins; nil at the end.
  package let next: RevisionID?
}

/// Reads a page in slices: the tree in the first, and then what is known of each revision.
struct HistoryReader: Sendable {
  private let id: DocumentID
  private let limit: Int
  private let after: RevisionID?
  private var page: [PastRevision] = []
  private var hasBegun = false
  private var hasMore = false
  /// Revisions near enough to a leaf: beyond them no body is kept, so none is looked for.
  private var near: Set<RevisionID> = []
  private var next = 0

  /// Nothing read yet.
  init(_ id: DocumentID, limit: Int, after: RevisionID?) {
    self.id = id
    self.limit = min(max(limit, 1), HistoryPage.maximumRevisions)
    self.after = after
  }

  /// Goes on in a state of the store until the slice is over.
  /// - Returns: the page once it is read, nil in it for an id that was never used.
  mutating func read(_ view: any StoreView) throws -> HistoryPage?? {
    if !hasBegun {
      guard let tree = try view.tree(id) else { return .some(nil) }
      list(tree)
      hasBegun = true
    }
    while next < page.count {
      if near.contains(page[next].revision) {
        page[next].kept = try view.kept(id, page[next].revision)
      }
      next += 1
      if Slice.isOver, next < page.count { return nil }
    }
    return HistoryPage(revisions: page, next: hasMore ? page.last?.revision : nil)
  }

  private mutating func list(_ tree: RevisionTree) {
    near = tree.revisions(withinSteps: StoreLimits.storedAncestors)
    let places = newest(in: tree)
    hasMore = places.count > limit
    let winner = tree.winner?.revision
    page = places.prefix(limit).map { index in
      let node = tree.nodes[index]
      let isCurrent = node.revision == winner
      return PastRevision(
        revision: node.revision, parent: node.parent.map { tree.nodes[$0].revision },
        isDeleted: node.isDeleted, isCurrent: isCurrent,
        isConflicting: node.isLeaf && !node.isDeleted && !isCurrent)
    }
  }

  /// The places of the page's revisions in the tree, and one more if there is one. A tree may have ten thousands, so
  /// that never more than a few pages of them are sorted.
  private func newest(in tree: RevisionTree) -> [Int] {
    func cut(_ places: [Int]) -> [Int] {
      let sorted = places.sorted { tree.nodes[$0].revision > tree.nodes[$1].revision }
      return Array(sorted.prefix(limit + 1))
    }
    var newest: [Int] = []
    for index in tree.nodes.indices {
      if let after, !(tree.nodes[index].revision < after) { continue }
      newest.append(index)
      if newest.count > 4 * (limit + 1) { newest = cut(newest) }
    }
    return cut(newest)
  }
}

extension DocumentStore {
  /// A page of a document's history.
  /// - Parameter limit: how many revisions, at most ``HistoryPage/maximumRevisions``.
  /// - Parameter after: where the page before ended; nil for the first page. It need not be there any more.
  /// - Returns: nil for an id that was never used.
  /// - Throws: the store's errors.
  package func history(
    of id: DocumentID, limit: Int, after: RevisionID? = nil
  ) async throws -> HistoryPage? {
    try await read(inSlices: HistoryReader(id, limit: limit, after: after)) { reader, view in
      try reader.read(view)
    }
  }

  /// One revision of a document, as it is stored.
  /// - Returns: nil for an unknown one.
  /// - Throws: as ``StoreView/revision(_:of:)`` does.
  package func revision(_ revision: RevisionID, of id: DocumentID) async throws -> Document? {
    try await read { view in try view.revision(revision, of: id) }
  }
}

extension StoreView {
  /// One revision of a document, with the document's sequence and times.
  /// - Returns: nil for an unknown one.
  /// - Throws: `missing` where its body was compacted away.
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
