/// A tree as a list of its revisions, to be written down elsewhere and put together again.
extension RevisionTree {
  /// One revision of a list, parents first.
  package struct Listed: Sendable, Equatable {
    /// The revision's id.
    package let revision: RevisionID
    /// The parent's place in the list; nil for a root.
    package let parent: Int?
    /// Whether this revision deletes the document.
    package let isDeleted: Bool

    /// A revision by its parts.
    package init(revision: RevisionID, parent: Int?, isDeleted: Bool) {
      self.revision = revision
      self.parent = parent
      self.isDeleted = isDeleted
    }
  }

  /// The revisions in the order of ``nodes``.
  package var listed: [Listed] {
    nodes.map { Listed(revision: $0.revision, parent: $0.parent, isDeleted: $0.isDeleted) }
  }

  /// Puts a tree together of such a list: the very same that was listed, if it was within the limits.
  /// - Throws: ``DocumentError`` with code `invalidDocument` for an empty list, a revision that stands in it twice, a
  ///   parent that does not stand before its child or is not one generation below it; `tooManyLeaves` for a tree beyond
  ///   the limits.
  package init(_ list: [Listed], within limits: HistoryLimits) throws(DocumentError) {
    var nodes: [Node] = []
    nodes.reserveCapacity(list.count)
    var known: Set<RevisionID> = []
    for (place, listed) in list.enumerated() {
      guard known.insert(listed.revision).inserted else {
        throw Self.invalid("Revision \(listed.revision) stands in it twice")
      }
      if let parent = listed.parent {
        guard (0..<place).contains(parent),
          nodes[parent].revision.generation + 1 == listed.revision.generation
        else {
          throw Self.invalid(
            "The parent of \(listed.revision) must stand before it, one generation lower")
        }
        nodes[parent].isLeaf = false
      }
      nodes.append(
        Node(
          revision: listed.revision, parent: listed.parent, isDeleted: listed.isDeleted,
          isLeaf: true))
    }
    guard !nodes.isEmpty else { throw Self.invalid("There is no revision in it") }
    self.init(nodes: nodes)
    prune(to: limits.revisions)
    guard openLeafCount <= limits.liveLeaves, closedLeafCount <= limits.deletedLeaves,
      byteCount <= limits.treeBytes
    else {
      throw DocumentError(
        .tooManyLeaves, "It has more branches or revisions than a document may have")
    }
  }

  private static func invalid(_ reason: String) -> DocumentError {
    DocumentError(.invalidDocument, reason)
  }
}
