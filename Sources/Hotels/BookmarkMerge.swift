package import Documents

/// The rule that makes one list of a document's conflicting revisions, so that what either side added and
/// what either side removed survives.
///
/// It follows the revision tree from the leaves to the root: where branches part, they are merged against
/// the list they parted from (three-way); where that list is no longer known, or branches share no root,
/// all their ids stay (union). The order of arrival has no say: branches are taken by their newest leaf,
/// the winner's first.
///
/// A branch may go on from a revision that was merged before (a phone had not heard of it). It then counts
/// with its differences from that revision only, since the rest is in the other branches already. Where
/// the tree can't tell, the rule keeps rather than loses: an id may come back, none is lost.
package enum BookmarkMerge {
  /// What a branch says.
  package struct Side: Sendable, Equatable {
    /// The branch's list.
    package let list: BookmarkList
    /// What the other branches contain of this one already; nil for nothing but the common ancestor.
    package let base: BookmarkList?
    /// The branch's newest live leaf.
    package let newest: RevisionID
  }

  /// Where the ids of a merged branch went, whose last revision has a tombstone.
  package enum Target: Sendable {
    /// Into a revision of the same document, which the tombstone's id names; see ``closing(_:into:)``.
    case sameDocument
    /// Into the canonical list: the document is another list.
    case canonicalList
  }

  /// Merges a document's live leaves.
  /// - Parameter list: reads a revision's list; nil for a revision whose body is no longer known. Asked for
  ///   live leaves, and for inner revisions only where branches part.
  /// - Returns: nil for a document without a live leaf.
  /// - Throws: what `list` throws.
  package static func resolve<Failure: Error>(
    _ tree: RevisionTree, target: Target = .sameDocument,
    list: (RevisionID) throws(Failure) -> BookmarkList?
  ) throws(Failure) -> Side? {
    let live = tree.nodes.filter { $0.isLeaf && !$0.isDeleted }
    // The usual case: nothing to merge, whatever was merged before.
    if case .sameDocument = target, let leaf = live.first, live.count == 1 {
      let list = try list(leaf.revision) ?? BookmarkList()
      return Side(list: list, base: nil, newest: leaf.revision)
    }
    var branches = MergedBranches(tree)
    var roots: [Side] = []
    // Parents stand before their children: backwards, a node's branches are complete when it comes.
    for (place, node) in tree.nodes.enumerated().reversed() where !(node.isLeaf && node.isDeleted) {
      var side: Side?
      if node.isLeaf {
        let list = try list(node.revision) ?? BookmarkList()
        side = Side(list: list, base: nil, newest: node.revision)
      } else {
        let sides = branches.sides[place]
        side = sides.first
        if !sides.isEmpty, sides.count > 1 || !branches.tombstones[place].isEmpty {
          let base = try list(node.revision)
          let isMerged = branches.isMerged(place, into: target)
          side = combine(isMerged ? sides.map { $0.since(base) } : sides, over: base)
        }
      }
      guard let side else { continue }
      if let parent = node.parent {
        branches.sides[parent].append(side)
      } else {
        roots.append(side)
      }
    }
    return combine(roots, over: nil)
  }

  /// Changes a list by branches' differences from their bases; without a base all ids are added.
  package static func apply(_ sides: [Side], to list: BookmarkList) -> BookmarkList {
    var result = list
    for side in sides {
      if let base = side.base { result.remove(Set(base.subtracting(side.list))) }
    }
    for side in sides { result.append(side.list.subtracting(side.base ?? BookmarkList())) }
    return result
  }

  /// Merges lists that parted from a common one: what all that had it kept stays, in its order, then what
  /// each added, in their order. Without the common one: all ids.
  package static func threeWay(
    _ lists: [BookmarkList], over base: BookmarkList?
  ) -> BookmarkList {
    guard let base else { return .union(lists) }
    let changed = lists.filter { $0 != base }
    // One side alone has the last word, on the order too.
    guard changed.count > 1 else { return changed.first ?? base }
    var result = base
    for list in changed { result.remove(Set(base.subtracting(list))) }
    for list in changed { result.append(list.subtracting(base)) }
    return result
  }

  private static func combine(_ sides: [Side], over base: BookmarkList?) -> Side? {
    let sides = sides.sorted { $0.newest > $1.newest }
    guard let first = sides.first, sides.count > 1 else { return sides.first }
    let open = sides.filter { $0.base == nil }.map(\.list)
    let merged = sides.filter { $0.base != nil }
    guard !open.isEmpty else {
      // What contains them stands further up the tree.
      let bases = BookmarkList.union(merged.compactMap(\.base))
      return Side(list: apply(merged, to: bases), base: bases, newest: first.newest)
    }
    return Side(
      list: apply(merged, to: threeWay(open, over: base)), base: nil, newest: first.newest)
  }
}

extension BookmarkMerge.Side {
  /// The branch when all up to a list is in the other branches already.
  fileprivate func since(_ merged: BookmarkList?) -> Self {
    Self(list: list, base: base ?? merged, newest: newest)
  }
}
