import Documents
import Lanes
import Stores

/// Reads what a copy lacks in slices, each from one state of a store: a page may have a hotel as it is and the order as
/// it became a moment later. The next page, from the token on, brings what has changed meanwhile.
struct MirrorReader: Sendable {
  /// Changes that are read from the store at once, at most and at least.
  private static let batches = 16...500

  /// Where the copy stands; nil for a copy of nothing, which can go on in any store.
  private let since: MirrorToken?
  /// The token of the first state, whose count of purges holds for the page: what a later state has forgotten may be
  /// in the page.
  private var first: MirrorToken?
  private var last: Int64
  private var hotels: [Bookmark] = []
  private var removed: [(id: DocumentID, revision: RevisionID)] = []
  private var bytes = 0
  private var scanned = 0
  private var listChanged: Bool
  /// As many changes as a slice is likely to look at.
  private var batch = Self.batches.upperBound

  /// A reader of what came after a token; nil for everything.
  init(since token: MirrorToken?) {
    since = token.flatMap { $0.sequence == 0 ? nil : $0 }
    last = since?.sequence ?? 0
    listChanged = since == nil
  }

  /// What a copy gets.
  enum Outcome: Sendable {
    case page(MirrorPage)
    /// The copy can't go on from its token.
    case outdated
  }

  /// Goes on in a state of the store until the slice is over.
  /// - Returns: nil when it is over before all is read.
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
      if Slice.isOver, !isFull {
        // What a slice does not come to is read again in the next.
        batch = min(max(2 * (scanned - before), Self.batches.lowerBound), Self.batches.upperBound)
        return nil
      }
    }
  }

  private var isFull: Bool {
    scanned >= MirrorPage.scan || hotels.count >= MirrorPage.rows || bytes >= MirrorPage.bytes
  }

  /// - Returns: how many of the changes were looked at.
  private mutating func append(
    _ changes: [Change], _ view: any StoreView
  ) throws -> Int {
    var count = 0
    for change in changes where !isFull {
      last = change.sequence
      if let bookmark = try Self.hotel(change, in: view) {
        hotels.append(bookmark)
        bytes += bookmark.hotel.count
      } else {
        // A list of any id, or what was one, may have changed what is bookmarked.
        let isList = try Self.mayBeList(change, in: view)
        listChanged = listChanged || isList
        if since != nil, HotelID(change.id.text) != nil {
          removed.append((change.id, change.revision))
        }
      }
      count += 1
      scanned += 1
      if Slice.isOver { break }
    }
    return count
  }

  private mutating func page(
    isCut: Bool, _ view: any StoreView
  ) throws -> Outcome {
    if !isCut { last = try view.info().lastSequence }
    let list = listChanged ? try ListReconciliation(view).list : nil
    guard let first else { return .outdated }
    if let since {
      // A tombstone that was forgotten since the page began may not be in it.
      let forgotten = try view.purgeLog()?.forgotten ?? 0
      guard forgotten == first.forgotten || since.sequence >= forgotten else { return .outdated }
    }
    return .page(
      MirrorPage(
        token: first.moved(to: last), isReset: since == nil, hasMore: isCut, hotels: hotels,
        removed: removed, order: list.map { Array($0.hotels.reversed()) },
        damage: try view.damage()))
  }

  /// A changed document as a hotel; nil for anything else.
  private static func hotel(
    _ change: Change, in view: any StoreView
  ) throws -> Bookmark? {
    guard !change.isDeleted, let id = HotelID(change.id.text),
      case .live(let bookmark) = try StoredHotel(id, in: view)
    else { return nil }
    return bookmark
  }

  private static func mayBeList(
    _ change: Change, in view: any StoreView
  ) throws -> Bool {
    if change.id == BookmarkList.documentID || change.isDeleted { return true }
    guard let document = try view.document(change.id) else { return true }
    return (try? DocumentBody(parsing: document.body).type)?.map {
      $0.equalsBytes(of: BookmarkList.type)
    } ?? false
  }
}
