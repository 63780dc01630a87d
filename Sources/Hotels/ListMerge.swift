import Scheduling

/// The merge of the lists of a graph, which goes on from slice to slice. Each id of each list is looked up once, however many
/// lists there are.
struct ListMerge: Sendable {
  private let graph: MergeGraph
  /// The heads whose lack of an id does not count; see ``BookmarkMerge/Target/canonicalList``.
  private let seen: MergeGraph.Heads
  /// The nodes whose lists are still to be read: the heads, then the others.
  private var rest: ArraySlice<Int>
  /// The next id of the first of them; when all are read, of ``ids``.
  private var position = 0
  /// The ids that some head has, numbered in the order of the union of the heads' lists.
  private var ids: [HotelID] = []
  private var numbers: [HotelID: Int] = [:]
  /// For each node, which of the numbers its list has.
  private var bits: [[UInt64]]
  /// All ids of the revisions that were merged into another document.
  private var base = BookmarkList()
  private var merged = BookmarkList()
  /// For ``isAdded(_:unseenBy:)``, so that no call allocates memory.
  private var isAlive: [Bool]

  /// How many ids are looked at between two looks at the clock.
  private static let idsAtOnce = 64

  /// A merge of one list.
  init(of list: BookmarkList) {
    self.init(MergeGraph(), .sameDocument)
    merged = list
  }

  init(_ graph: MergeGraph, _ target: BookmarkMerge.Target) {
    self.graph = graph
    seen = target == .canonicalList ? MergeGraph.merged : 0
    let heads = graph.headsInOrder
    let isHead = Set(heads)
    rest = (heads + graph.nodes.indices.filter { !isHead.contains($0) })[...]
    bits = Array(repeating: [], count: graph.nodes.count)
    isAlive = Array(repeating: false, count: graph.nodes.count)
    numbers.reserveCapacity(heads.map { graph.nodes[$0].list?.hotels.count ?? 0 }.max() ?? 0)
  }

  /// Continues until the slice is over.
  /// - Returns: nil before the merge is complete.
  mutating func next(within slice: Slice) -> BookmarkMerge.Side? {
    var count = 0
    while let node = rest.first {
      let list = graph.nodes[node].list?.hotels ?? []
      while position < list.count {
        take(list[position], of: node)
        position += 1
        count += 1
        if count.isMultiple(of: Self.idsAtOnce), slice.isOver { return nil }
      }
      (rest, position) = (rest.dropFirst(), 0)
    }
    while position < ids.count {
      if stays(position) { merged.append(CollectionOfOne(ids[position])) }
      position += 1
      count += 1
      if count.isMultiple(of: Self.idsAtOnce), slice.isOver { return nil }
    }
    return BookmarkMerge.Side(list: merged, base: base.hotels.isEmpty ? nil : base)
  }

  private mutating func take(_ id: HotelID, of index: Int) {
    let node = graph.nodes[index]
    if node.isClosed, node.heads & MergeGraph.merged != 0 { base.append(CollectionOfOne(id)) }
    let number: Int
    if let known = numbers[id] {
      number = known
    } else {
      guard graph.heads.contains(index) else { return }
      number = ids.count
      numbers[id] = number
      ids.append(id)
    }
    while bits[index].count <= number / 64 { bits[index].append(0) }
    bits[index][number / 64] |= 1 << UInt64(number % 64)
  }

  private func isMember(_ number: Int, of node: Int) -> Bool {
    let bits = bits[node]
    return number / 64 < bits.count && bits[number / 64] & 1 << UInt64(number % 64) != 0
  }

  private mutating func stays(_ number: Int) -> Bool {
    var lacking: MergeGraph.Heads = 0
    for (bit, head) in graph.heads.enumerated() where !isMember(number, of: head) {
      lacking |= 1 << MergeGraph.Heads(bit)
    }
    if lacking == 0, base.contains(ids[number]) { return true }
    return lacking | seen == 0 || isAdded(number, unseenBy: lacking | seen)
  }

  /// Whether an id was added by a revision from which none of these heads descends, and stayed in every list from there to
  /// some head. The id may come from a list that is no longer known.
  private mutating func isAdded(_ number: Int, unseenBy lacking: MergeGraph.Heads) -> Bool {
    for (index, node) in graph.nodes.enumerated() {
      isAlive[index] = false
      guard node.heads & lacking == 0, isMember(number, of: index) else { continue }
      var hasOrigin = false
      for source in node.sources {
        let isUnknown = graph.nodes[source].list == nil
        guard isUnknown || isMember(number, of: source) else { continue }
        hasOrigin = true
        if isUnknown || isAlive[source] { isAlive[index] = true }
      }
      if !hasOrigin { isAlive[index] = true }
    }
    return graph.heads.contains { isAlive[$0] }
  }
}

extension MergeGraph {
  /// The heads in the order in which their lists are joined: those with the most ancestors first. Heads whose list
  /// equals that of one of their sources come last.
  fileprivate var headsInOrder: [Int] {
    let isStill = { (head: Int) in
      let node = nodes[head]
      return node.sources.contains { nodes[$0].list == node.list }
    }
    return headsByAncestry.filter { !isStill($0) } + headsByAncestry.filter(isStill)
  }
}
