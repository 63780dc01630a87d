import Documents
import JSON
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

  /// The list that is being read, or that was read last. Copies of a progress share it: to copy a long list in each slice
  /// takes as long as to read some of it. A step that runs again goes on where it was.
  private final class Reading: Sendable {
    let begun = Mutex<Begun?>(nil)
  }

  /// The slice is over, and more is needed.
  struct SliceIsOver: Error {}

  private struct Key: Hashable {
    let id: DocumentID
    let revision: RevisionID
  }

  private var lists: [Key: Stored?] = [:]
  private let reading = Reading()
  /// Whether to stop when the slice is over. Each slice parses some of one list at least.
  private let isSliced: Bool
  private var isFirst = true

  init(isSliced: Bool) { self.isSliced = isSliced }

  /// Begins another slice, with the rest of a list that was begun.
  /// - Returns: false when the slice is over before the list is read.
  mutating func continueReading(within slice: Slice) -> Bool {
    isFirst = true
    return reading.begun.withLock { $0?.read(within: slice) } ?? true
  }

  /// Parses a revision's list, or returns what was parsed before.
  /// - Parameter body: the revision's body, if it was read already.
  /// - Returns: nil when the body is no longer known.
  /// - Throws: the view's errors; `integrity` for a body that can't be read; ``SliceIsOver``.
  mutating func list(
    _ id: DocumentID, _ revision: RevisionID, in view: any StoreView, body: [UInt8]? = nil
  ) throws -> Stored? {
    let key = Key(id: id, revision: revision)
    if let known = lists[key] { return known }
    if isSliced, view.slice.isOver, !isFirst { throw SliceIsOver() }
    isFirst = false
    var slice = isSliced ? view.slice : .endless
    let stored = try reading.begun.withLock { begun -> Stored? in
      if begun?.key != key {
        // The list was written while it was read. Who writes it all the time could keep others from ever reading it.
        if begun?.isUsed == false { slice = .endless }
        begun = try (body ?? view.body(id, revision)).map { try Self.begin(key, $0) }
      }
      if begun?.read(within: slice) == false { throw SliceIsOver() }
      begun?.isUsed = true
      return begun.map { Stored(list: $0.list, isTyped: $0.isTyped) }
    }
    lists[key] = .some(stored)
    return stored
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
