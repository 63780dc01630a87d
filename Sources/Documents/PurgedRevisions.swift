/// Marks of the purged revisions of one document. A mark takes ``ClosedBranch/byteCount`` bytes and stands
/// for a revision and its parent, if it has one.
///
/// With the marks, a peer that still has a purged revision can't bring it back. A new document with the same
/// id continues after the latest purged revision, so it never gets the id of a purged revision. A mark is
/// kept for ``ClosedBranches/days`` days; only the newest ``ClosedBranches/maximumMarks`` marks are kept.
package struct PurgedRevisions: Sendable, Equatable {
  private var marks = ClosedBranches()

  /// Creates an empty set of marks.
  package init() {}

  /// Reads marks that ``bytes`` wrote.
  /// - Throws: `damaged` for other bytes.
  package init(_ bytes: [UInt8]) throws(DocumentError) {
    let marks: Result<ClosedBranches, DocumentError> = bytes.withUnsafeBytes { all in
      do throws(DocumentError) {
        return .success(try ClosedBranches(standing: all[0..<0], marks: all[...]))
      } catch { return .failure(error) }
    }
    self.marks = try marks.get()
  }

  /// The stored marks, oldest first.
  package var bytes: [UInt8] { marks.marks }

  package func knows(_ revision: RevisionID) -> Bool { marks.hasMark(of: revision) }

  /// The latest purged revision that an edit can follow, by its generation and then by its digest. A digest
  /// that is a peer's own word is replaced by its hash.
  package var latest: RevisionID? {
    marks.marked.map(\.marked).filter { $0.generation < RevisionID.maximumGeneration }.max()
  }

  /// Adds marks for the revisions that a purge removes from a tree, and removes marks that are too old.
  /// - Parameter rest: the tree after the purge.
  /// - Parameter day: today, in days since 1970.
  package mutating func add(from tree: RevisionTree, leaving rest: RevisionTree, on day: Int) {
    let left = Set(rest.nodes.map(\.revision))
    var isMarked = tree.nodes.map { left.contains($0.revision) }
    var branches: [ClosedBranch] = []
    // Parents come before their children, so this loop starts at the leaves. Each mark covers a revision and
    // its parent.
    for index in tree.nodes.indices.reversed() where !isMarked[index] {
      let node = tree.nodes[index]
      branches.append(
        ClosedBranch(
          tombstone: node.revision, leaf: node.parent.map { tree.nodes[$0].revision }, day: day))
      if let parent = node.parent { isMarked[parent] = true }
    }
    // The leaves are added last, so they are forgotten last.
    for branch in branches.reversed() { marks.mark(branch, on: day) }
    marks.forgetOldMarks(on: day)
  }
}

extension ClosedBranches {
  /// The branches of the marks, oldest first.
  fileprivate var marked: [ClosedBranch] {
    let size = ClosedBranch.byteCount
    return stride(from: 0, to: marks.count, by: size).compactMap { start in
      ClosedBranch(marks[start..<min(start + size, marks.count)])
    }
  }
}

extension ClosedBranch {
  /// The revision of the mark; a word is replaced by its hash.
  fileprivate var marked: RevisionID { RevisionID(generation: generation, digest: tombstone.hash) }
}
