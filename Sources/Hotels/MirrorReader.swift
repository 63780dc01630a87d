import Documents
import Scheduling
import Stores

/// Reads a page of the changes that a copy lacks, in slices. Each slice reads one state of the store, so a page may
/// contain a hotel as it was and the order as it became a moment later. The next page, from the token on, contains
/// what changed in between.
struct MirrorReader: Sendable {
  /// The most and the fewest changes that are read from the store at once.
  private static let batches = 16...500

  /// The copy's position; nil for an empty copy, which can continue in any store.
  private let since: MirrorToken?
  /// The token of the first state. Its purge count is the page's, because the page may contain what a later state
  /// has purged.
  private var first: MirrorToken?
  private var last: Int64
  private var hotels = GrowingList<Bookmark>()
  private var removed = GrowingList<(id: DocumentID, revision: RevisionID)>()
  private var bytes = 0
  private var scanned = 0
  private var listChanged: Bool
  private var lists = ListReader()
  /// The number of changes that a slice can probably process.
  private var batch = Self.batches.upperBound

  /// A reader of the changes after a token; nil for all.
  init(since token: MirrorToken?) {
    since = token.flatMap { $0.sequence == 0 ? nil : $0 }
    last = since?.sequence ?? 0
    listChanged = since == nil
  }

  /// The result for a copy.
  enum Outcome: Sendable {
    case page(MirrorPage)
    /// The copy can't continue from its token.
    case outdated
  }

  /// Continues in a state of the store until the slice is over.
  /// - Returns: nil when the page is not complete yet.
  mutating func read(_ view: any StoreView) throws -> Outcome? {
    if first == nil {
      if let since, try !since.isGood(in: view) { return .outdated }
      first = try MirrorToken(last, in: view)
    }
    let before = scanned
    while true {
      guard !isFull else {
        return try page(isCut: !view.changes(after: last, limit: 1).isEmpty, view)
      }
      let wanted = min(batch, MirrorPage.scan - scanned)
      let changes = try view.changes(after: last, limit: wanted)
      let count = try append(changes, view)
      if count == changes.count, changes.count < wanted { return try page(isCut: false, view) }
      if view.slice.isOver, !isFull {
        // Changes that this slice did not process are read again in the next.
        batch = min(max(2 * (scanned - before), Self.batches.lowerBound), Self.batches.upperBound)
        return nil
      }
    }
  }

  private var isFull: Bool {
    scanned >= MirrorPage.scan || hotels.count >= MirrorPage.rows || bytes >= MirrorPage.bytes
  }

  /// - Returns: how many of the changes were processed.
  private mutating func append(_ changes: [Change], _ view: any StoreView) throws -> Int {
    var count = 0
    for change in changes where !isFull {
      last = change.sequence
      if let bookmark = try Self.hotel(change, in: view) {
        hotels.append(bookmark)
        bytes += bookmark.hotel.count
      } else {
        // A list of any id, or a document that was one, may change which hotels are bookmarked.
        let isList = try Self.mayBeList(change, in: view)
        listChanged = listChanged || isList
        if since != nil, HotelID(change.id.text) != nil {
          removed.append((change.id, change.revision))
        }
      }
      count += 1
      scanned += 1
      if view.slice.isOver { break }
    }
    return count
  }

  private mutating func page(isCut: Bool, _ view: any StoreView) throws -> Outcome? {
    if !isCut { last = try view.info().lastSequence }
    var list: BookmarkList?
    if listChanged {
      guard let read = try lists.read(view) else { return nil }
      list = read.list
    }
    guard let first else { return .outdated }
    if let since {
      // The page may lack a tombstone that was forgotten after the page was begun.
      let forgotten = try view.purgeLog()?.forgotten ?? 0
      guard forgotten == first.forgotten || since.sequence >= forgotten else { return .outdated }
    }
    return .page(
      MirrorPage(
        token: first.moved(to: last), isReset: since == nil, hasMore: isCut, hotels: hotels.all,
        removed: removed.all, order: list.map { Array($0.hotels.reversed()) },
        damage: try view.damage()))
  }

  /// A changed document as a bookmark; nil for anything else.
  private static func hotel(_ change: Change, in view: any StoreView) throws -> Bookmark? {
    guard !change.isDeleted, let id = HotelID(change.id.text),
      case .live(let bookmark) = try StoredHotel(id, in: view)
    else { return nil }
    return bookmark
  }

  private static func mayBeList(_ change: Change, in view: any StoreView) throws -> Bool {
    if change.id == BookmarkList.documentID || change.isDeleted { return true }
    guard let document = try view.document(change.id) else { return true }
    return (try? DocumentBody(parsing: document.body).type)?.map {
      $0.equalsBytes(of: BookmarkList.type)
    } ?? false
  }
}
