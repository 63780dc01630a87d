import Documents
import JSON
import Scheduling
import Stores

/// What an account's hotel becomes when a guest has the same hotel and joins the account.
///
/// A member or an attachment that only one side has joins. Where both differ, the account's value stays. The guest's words are then not
/// in the result, so the guest's whole hotel becomes an ancestor of it, from which it can be restored.
struct HotelUnion: Sendable {
  /// The account's hotel with the members that only the guest's has.
  let body: DocumentBody
  /// The guest's whole hotel; nil when ``body`` has everything that it says.
  let ancestor: DocumentBody?

  /// Joins two hotels.
  /// - Parameter generation: that of the account's revision.
  /// - Returns: nil when the guest's hotel says nothing that the account's doesn't say.
  /// - Throws: ``DocumentError`` for a body that can't be read.
  init?(of account: [UInt8], in generation: Int, with guest: [UInt8]) throws {
    let joined = HotelFacts.merged(into: account, former: Array("{}".utf8), facts: guest)
    // A hotel that would become too large stays as it is.
    let fitting = joined.flatMap { $0.bytes.count <= BookmarkLimits.hotelBytes ? $0 : nil }
    let differs = fitting == nil && joined != nil || HotelFacts.differ(account, guest)
    let text = try fitting ?? DocumentBody(parsing: account, limits: .request)
    // The guest's whole hotel may come between.
    let attached = try AttachmentMerge.merged(
      DocumentBody.attachments(in: guest)?.stubs ?? [], into: text, former: [],
      generation: generation + (differs ? 2 : 1))
    guard differs || fitting != nil || attached != nil else { return nil }
    body = attached ?? text
    ancestor = differs ? try DocumentBody(parsing: guest, limits: .request) : nil
  }
}

/// The unions of the hotels that an account and a guest have both. They are computed before the update that adopts the
/// guest, because the work grows with what both have stored.
struct HotelUnions: Sendable {
  /// The union of one hotel.
  private struct Entry: Sendable {
    /// The account's revision that was read.
    let revision: RevisionID
    let union: HotelUnion?
  }

  private let bookmarks: [Bookmark]
  private var next = 0
  private var entries: [HotelID: Entry] = [:]

  /// Makes a value without unions.
  /// - Parameter bookmarks: the guest's.
  init(_ bookmarks: [Bookmark]) { self.bookmarks = bookmarks }

  /// Continues in a state of the account's store until the slice is over.
  /// - Returns: whether all hotels were looked at.
  /// - Throws: the view's errors.
  mutating func read(_ view: any StoreView) throws -> Bool {
    while next < bookmarks.count {
      let bookmark = bookmarks[next]
      if case .live(let present) = try StoredHotel(bookmark.id, in: view) {
        entries[bookmark.id] = Entry(
          revision: present.revision, union: try Self.union(of: present, with: bookmark))
      }
      next += 1
      if view.slice.isOver { break }
    }
    return next == bookmarks.count
  }

  /// The union of the account's hotel with the guest's. It is computed again if the account's hotel has changed.
  func union(of present: Bookmark, with guest: Bookmark) throws -> HotelUnion? {
    if let entry = entries[guest.id], entry.revision == present.revision { return entry.union }
    return try Self.union(of: present, with: guest)
  }

  private static func union(of present: Bookmark, with guest: Bookmark) throws -> HotelUnion? {
    try HotelUnion(
      of: present.hotel, in: present.revision.generation, with: guest.hotel)
  }
}
