/// What is left of the revisions of one document that were purged: marks that make them known, each in
/// ``ClosedBranch/byteCount`` bytes for two revisions, one below the other.
///
/// So whoever still has a purged revision does not bring it back, and a new document of the same id goes on from the
/// latest, so that it never gets a purged id. A mark is kept for ``ClosedBranches/days`` days, and of many the newest
/// ``ClosedBranches/maximumMarks``.
package struct PurgedRevisions: Sendable, Equatable {
  private var marks = ClosedBranches()

  /// None.
  package init() {}

  /// Reads marks as ``bytes`` wrote them.
  /// - Throws: `damaged` for other bytes.
  package init(_ bytes: [UInt8]) throws(DocumentError) {
    let marks: Result<ClosedBranches, DocumentError> = bytes.withUnsafeBytes { all in
      do throws(DocumentError) {
        return .success(try ClosedBranches(standing: all[0..<0], marks: all[...]))
      } catch {
        return .failure(error)
      }
    }
    self.marks = try marks.get()
  }

  /// The marks, the oldest first.
  package var bytes: [UInt8] { marks.marks }

  /// Whether a revision was purged.
  package func knows(_ revision: RevisionID) -> Bool { marks.hasMark(of: revision) }

  /// The latest revision that was purged and that an edit can follow, by its generation and then by its digest. Of a
  /// peer's own word the hash stands for it.
  package var latest: RevisionID? {
    marks.marked.map(\.marked).filter { $0.generation < RevisionID.maximumGeneration }.max()
  }

  /// Remembers the revisions that a purge takes out of a tree, and forgets what was purged long ago.
  /// - Parameter rest: what is left of the tree.
  /// - Parameter day: today, in days since 1970.
  package mutating func add(
    from tree: RevisionTree, leaving rest: RevisionTree, on day: Int
  ) {
    let left = Set(rest.nodes.map(\.revision))
    var isMarked = tree.nodes.map { left.contains($0.revision) }
    var branches: [ClosedBranch] = []
    // Parents stand before their children: from the leaves on, each mark takes a revision and its parent.
    for place in tree.nodes.indices.reversed() where !isMarked[place] {
      let node = tree.nodes[place]
      branches.append(
        ClosedBranch(
          tombstone: node.revision, leaf: node.parent.map { tree.nodes[$0].revision }, day: day))
      if let parent = node.parent { isMarked[parent] = true }
    }
    // The leaves last: they are the last to be forgotten.
    for branch in branches.reversed() { marks.mark(branch, on: day) }
    marks.forgetOldMarks(on: day)
  }
}

extension ClosedBranches {
  /// The branches of which a mark is left, the oldest first.
  fileprivate var marked: [ClosedBranch] {
    let size = ClosedBranch.byteCount
    return stride(from: 0, to: marks.count, by: size).compactMap { place in
      ClosedBranch(marks[place..<min(place + size, marks.count)])
    }
  }
}

extension ClosedBranch {
  /// The revision that the mark stands for.
  fileprivate var marked: RevisionID { RevisionID(generation: generation, digest: tombstone.hash) }
}
