import Documents
import Stores

/// What an account's hotel becomes when a guest has the same hotel and joins the account.
///
/// A member that only one side has joins. Where both differ, the account's value stays. The guest's words are then not
/// in the result, so the guest's whole hotel becomes an ancestor of it, from which it can be restored.
struct HotelUnion: Sendable {
  /// The account's hotel with the members that only the guest's has.
  let body: DocumentBody
  /// The guest's whole hotel; nil when ``body`` has everything that it says.
  let ancestor: DocumentBody?

  /// Joins two hotels. Their attachments are joined by name; see ``AttachmentMerge``.
  /// - Returns: nil when the guest's hotel says nothing that the account's doesn't say.
  /// - Throws: ``DocumentError`` for a body that can't be read.
  init?(of present: Bookmark, with guest: [UInt8]) throws {
    let account = present.hotel
    let joined = try HotelMerge.joined(
      account, guest, since: Array("{}".utf8), generation: present.revision.generation + 2
    ).body
    // A hotel that would become too large stays as it is.
    let fitting = joined.flatMap { $0.bytes.count <= BookmarkLimits.hotelBytes ? $0 : nil }
    let differs = fitting == nil && joined != nil || HotelFacts.differ(account, guest)
    guard differs || fitting != nil else { return nil }
    body = try fitting ?? DocumentBody(parsing: account, limits: .request)
    ancestor = differs ? try DocumentBody(parsing: guest, limits: .request) : nil
  }
}

/// The unions of the hotels that an account and a guest have both. They are computed before the update that adopts the
/// guest, because the work grows with what both have stored.
struct HotelUnions: Sendable {
  /// The union of one hotel.
  struct Entry: Sendable {
    /// The account's revision that was read.
    fileprivate let revision: RevisionID
    fileprivate let union: HotelUnion?

    /// Computes the union of the guest's hotel with that of a state of the account's store; nil if there is none.
    /// - Throws: the view's errors.
    init?(of guest: Bookmark, in view: any StoreView) throws {
      guard case .live(let present) = try StoredHotel(guest.id, in: view) else { return nil }
      revision = present.revision
      union = try HotelUnion(of: present, with: guest.hotel)
    }
  }

  private let entries: [HotelID: Entry]

  /// Makes a value of what was computed for each of the guest's bookmarks.
  init(_ guests: [Bookmark], _ entries: [Entry?]) {
    self.entries = Dictionary(zip(guests.map(\.id), entries), uniquingKeysWith: { $1 })
      .compactMapValues { $0 }
  }

  /// The union of the account's hotel with the guest's. It is computed again if the account's hotel has changed.
  func union(of present: Bookmark, with guest: Bookmark) throws -> HotelUnion? {
    if let entry = entries[guest.id], entry.revision == present.revision { return entry.union }
    return try HotelUnion(of: present, with: guest.hotel)
  }
}
