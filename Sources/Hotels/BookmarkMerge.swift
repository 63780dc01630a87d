package import Documents

/// The rule that makes one list of a document's conflicting revisions, so that what either side added and
/// what either side removed survives.
///
/// It is that of an observed-remove set (Shapiro and others, "A comprehensive study of convergent and
/// commutative replicated data types", 2011), read from the revision tree instead of from marks in the
/// document, which apps would drop: an id stays if some leaf has it from a revision that added it, and no leaf
/// without it came from there too. Whatever a leaf came from it has seen: its ancestors, and what was merged
/// into them. Where a list that ways part from is no longer known, its ids count as added: an id may come
/// back then, none is lost. No id stays that no leaf has, so what is gone everywhere stays away.
package enum BookmarkMerge {
  /// What a document's leaves come to.
  package struct Side: Sendable, Equatable {
    /// The list.
    package let list: BookmarkList
    /// What the canonical list contains of it already; nil for nothing.
    package let base: BookmarkList?
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
    let live = tree.liveLeaves
    guard let leaf = live.first else { return nil }
    // The usual case: nothing to merge, whatever was merged before.
    if target == .sameDocument, live.count == 1 {
      return Side(list: try list(leaf.revision) ?? BookmarkList(), base: nil)
    }
    let graph = try MergeGraph(tree, target: target, list: list)
    let base = graph.mergedLists
    let union = BookmarkList.union(graph.headsInOrder.compactMap { graph.nodes[$0].list })
    let stays = union.hotels.filter { id in
      let lacking = graph.headsLacking(id)
      if base.contains(id), lacking == 0 { return true }
      let seen = target == .canonicalList ? MergeGraph.merged : 0
      return lacking | seen == 0 || graph.isAdded(id, unseenBy: lacking | seen)
    }
    return Side(list: BookmarkList(stays), base: base.hotels.isEmpty ? nil : base)
  }

  /// Changes a list by what another document's leaves come to.
  package static func apply(_ side: Side, to list: BookmarkList) -> BookmarkList {
    var result = list
    if let base = side.base { result.remove(Set(base.subtracting(side.list))) }
    result.append(side.list.subtracting(side.base ?? BookmarkList()))
    return result
  }
}

extension MergeGraph {
  /// The heads as they give the list its order: who came from most before the others, but those last that
  /// say what was said before.
  fileprivate var headsInOrder: [Int] {
    let isStill = { (head: Int) in
      let node = nodes[head]
      return node.sources.contains { nodes[$0].list == node.list }
    }
    return headsBySight.filter { !isStill($0) } + headsBySight.filter(isStill)
  }

  /// All ids of revisions that were merged into another document.
  fileprivate var mergedLists: BookmarkList {
    .union(nodes.lazy.filter { $0.isClosed && $0.heads & Self.merged != 0 }.compactMap(\.list))
  }

  /// The heads whose lists don't have an id.
  fileprivate func headsLacking(_ id: HotelID) -> Heads {
    var lacking: Heads = 0
    for (bit, head) in heads.enumerated() where nodes[head].list?.contains(id) != true {
      lacking |= 1 << Heads(bit)
    }
    return lacking
  }
}
