import Documents
import Scheduling
import Stores
import Synchronization

/// The lists of a store that were read so far. A reading in slices parses each list once, because a revision's body never
/// changes, and a long one in several slices.
struct StoredLists: Sendable {
  /// A revision's list.
  struct Stored {
    let list: BookmarkList
    /// Whether the document says that it is a list.
    let isTyped: Bool
  }

  /// A list of which some entries were read.
  private struct Begun {
    let key: Key
    let isTyped: Bool
    var list: BookmarkList
    var rest: JSONElements
    /// Whether it was returned.
    var isUsed = false

    /// Reads further entries until the slice is over.
    /// - Returns: whether all are read.
    mutating func read(within slice: Slice) -> Bool { list.take(from: &rest, within: slice) }
  }

  /// A merge of a document's revisions that was begun.
  private typealias Merging = (id: DocumentID, tree: RevisionTree, merge: ListMerge)

  /// The list that is being read, or that was read last, and the lists that are being merged. Copies of a progress share
  /// them: to copy a long list in each slice takes as long as to read some of it. A step that runs again goes on where it
  /// was.
  private final class Reading: Sendable {
    let begun = Mutex<Begun?>(nil)
    let merging = Mutex<Merging?>(nil)
  }

  /// The slice is over, and more is needed.
  struct SliceIsOver: Error {}
  /// A list is not known, and too long to be read in an update.
  struct IsLong: Error {}

  private struct Key: Hashable {
    let id: DocumentID
    let revision: RevisionID
  }

  private var lists: [Key: Stored?] = [:]
  private var sides: [DocumentID: (tree: RevisionTree, side: BookmarkMerge.Side)] = [:]
  private let reading = Reading()
  /// Whether to stop when the slice is over. Each slice parses some of one list at least.
  private let isSliced: Bool
  private var isFirst = true
  /// The most bytes of a body that is read.
  private let mostBytes: Int

  init(isSliced: Bool) { (self.isSliced, mostBytes) = (isSliced, .max) }

  private init(atMost bytes: Int) { (isSliced, mostBytes) = (false, bytes) }

  /// For an update that only reads a list that is not long.
  static var short: StoredLists { StoredLists(atMost: PreparedList.shortBytes) }

  /// For an update of a list that was read before.
  init(knowing list: BookmarkList, at revision: RevisionID) {
    self.init(atMost: PreparedList.shortBytes)
    lists[Key(id: BookmarkList.documentID, revision: revision)] = Stored(list: list, isTyped: true)
  }

  /// Begins another slice, with the rest of a list or a merge that was begun.
  /// - Returns: false when the slice is over before that is done.
  mutating func continueReading(within slice: Slice) -> Bool {
    isFirst = true
    guard reading.begun.withLock({ $0?.read(within: slice) }) ?? true else { return false }
    return continueMerging(within: slice)
  }

  /// Parses a revision's list, or returns what was parsed before.
  /// - Parameter body: the revision's body, if it was read already.
  /// - Returns: nil when the body is no longer known.
  /// - Throws: the view's errors; `integrity` for a body that can't be read; ``SliceIsOver``; ``IsLong``.
  mutating func list(
    _ id: DocumentID, _ revision: RevisionID, in view: any StoreView, body: [UInt8]? = nil
  ) throws -> Stored? {
    let key = Key(id: id, revision: revision)
    if let known = lists[key] { return known }
    if let body, body.count > mostBytes { throw IsLong() }
    if isSliced, view.slice.isOver, !isFirst { throw SliceIsOver() }
    isFirst = false
    var slice = isSliced ? view.slice : .endless
    let stored = try reading.begun.withLock { begun -> Stored? in
      if begun?.key != key {
        // The list was written while it was read. Who writes it all the time could keep others from ever reading it.
        if begun?.isUsed == false { slice = .endless }
        begun = try (body ?? view.body(id, revision)).map { body in
          if isSliced { try Self.requireMemory(for: body, view.slice) }
          return try Self.begin(key, body)
        }
      }
      if begun?.read(within: slice) == false { throw SliceIsOver() }
      begun?.isUsed = true
      return begun.map { Stored(list: $0.list, isTyped: $0.isTyped) }
    }
    lists[key] = .some(stored)
    return stored
  }

  /// Continues to read the list of one revision of the canonical document.
  /// - Returns: nil when the slice is over before; no list if its body is not stored.
  mutating func lists(
    saidBy revision: RevisionID, in view: any StoreView
  ) throws -> [BookmarkList]? {
    guard continueReading(within: view.slice) else { return nil }
    do {
      return [try list(BookmarkList.documentID, revision, in: view)?.list].compactMap(\.self)
    } catch is SliceIsOver { return nil }
  }

  /// The merged list of a document's revisions, if it is known.
  func side(of id: DocumentID, _ tree: RevisionTree) -> BookmarkMerge.Side? {
    sides[id].flatMap { $0.tree == tree ? $0.side : nil }
  }

  /// Begins a merge.
  /// - Throws: ``SliceIsOver`` before it is complete; it then goes on with ``continueReading(within:)``.
  mutating func merge(
    _ id: DocumentID, _ tree: RevisionTree, _ merge: ListMerge, in view: any StoreView
  ) throws -> BookmarkMerge.Side {
    var merge = merge
    // The lists were written while they were merged. Who writes them all the time could keep others from reading them.
    let isSliced = isSliced && sides[id] == nil
    guard let side = merge.next(within: isSliced ? view.slice : .endless) else {
      let begun: Merging = (id, tree, merge)
      reading.merging.withLock { $0 = begun }
      throw SliceIsOver()
    }
    sides[id] = (tree, side)
    return side
  }

  /// Goes on with the merge that was begun.
  /// - Returns: false when the slice is over before it is complete.
  private mutating func continueMerging(within slice: Slice) -> Bool {
    var isComplete = true
    let merged = reading.merging.withLock {
      merging -> (begun: Merging, side: BookmarkMerge.Side)? in
      guard let side = merging?.merge.next(within: slice), let begun = merging else {
        isComplete = merging == nil
        return nil
      }
      merging = nil
      return (begun, side)
    }
    if let merged { sides[merged.begun.id] = (merged.begun.tree, merged.side) }
    return isComplete
  }

  /// About how many bytes in memory a byte of a long list takes while a request reads and changes it: its ids, the set of
  /// them, the list that the request makes, and the text of that one.
  private static let memoryPerByte = 16

  private static func requireMemory(for body: [UInt8], _ slice: Slice) throws {
    guard body.count > PreparedList.shortBytes, !slice.reserve(memoryPerByte * body.count) else {
      return
    }
    throw ServiceError(
      .unavailable, "There is no memory for a list of bookmarks as long as this; try again soon")
  }

  private static func begin(_ key: Key, _ body: [UInt8]) throws -> Begun {
    let root: JSONNode
    do { root = try ParsedJSON(body, limits: .request).root } catch {
      throw ServiceError(
        .integrity, "A list of bookmarks can't be read",
        detail: "\(key.id) \(key.revision) \(error)")
    }
    return Begun(
      key: key, isTyped: root["type"]?.stringEquals(BookmarkList.type) ?? false,
      list: BookmarkList(ofBytes: body.count), rest: (root["hotels"] ?? root).elements)
  }
}

/// Reads the lists of a store in slices.
struct ListReader: Sendable {
  private var known = StoredLists(isSliced: true)

  /// Continues in a state of the store until the slice is over.
  /// - Returns: nil before all lists are read.
  /// - Throws: as ``ListReconciliation/init(_:known:)``.
  mutating func read(_ view: any StoreView) throws -> ListReconciliation? {
    guard known.continueReading(within: view.slice) else { return nil }
    return try ListReconciliation(view, known: &known)
  }
}
