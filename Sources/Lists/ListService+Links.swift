package import Documents
package import Hotels
import Scheduling
package import Stores

/// Links that show a list without an account.
extension ListService {
  /// Makes a link. The secret, 256 random bits, is returned only here.
  /// - Throws: `absent`; `forbidden` for everyone but the owner; `quotaExceeded`.
  package func makeLink(
    to list: AccountID, by owner: AccountID, as context: WriteContext,
    answer: Answering<IssuedLink>? = nil
  ) async throws -> IssuedLink {
    try await requireOwner(owner, of: list)
    let secret = Hex.random() + Hex.random()
    let link = ListLink(to: list, secret: secret, at: now())
    return try await stores.update(.system, as: context, answer: answer) { changes in
      guard try changes.role(of: owner, in: list) == .owner else { throw ServiceError.absent }
      try changes.add(link)
      return (link, secret)
    }
  }

  /// The links to a list, in the order of their ids, without their secrets.
  /// - Throws: `absent`; `forbidden` for everyone but the owner.
  package func links(to list: AccountID, for owner: AccountID) async throws -> [ListLink] {
    try await requireOwner(owner, of: list)
    return try await directory.read(orAbsent: []) { view in try ListLink.all(of: list, in: view) }
  }

  /// Withdraws a link. It shows nothing from then on.
  /// - Throws: `absent`; `forbidden` for everyone but the owner; `missing`.
  package func withdrawLink(
    _ link: AccountID, to list: AccountID, by owner: AccountID, as context: WriteContext,
    answer: Answering<Void>? = nil
  ) async throws {
    try await requireOwner(owner, of: list)
    try await stores.update(.system, as: context, answer: answer) { changes in
      guard try changes.role(of: owner, in: list) == .owner else { throw ServiceError.absent }
      changes.freesSpace = true
      try changes.withdrawLink(link, to: list)
    }
  }

  /// A page of what a link shows: the list's hotels, newest first, then its published notes, in the order of their titles.
  /// - Parameter start: where the page begins; nil for the first page.
  /// - Parameter limit: the most hotels and notes together.
  /// - Throws: `absent`, the same for a link that was withdrawn, whose list has ended, and that never was.
  package func list(
    shownBy secret: String, from start: ShownList.Position?, limit: Int
  ) async throws -> ShownList {
    let list = try await directory.read(orAbsent: nil) { view in
      try ListLink.list(shownBy: secret, in: view)
    }
    guard let list else { throw ServiceError.absent }
    var shown = ShownList(try await document(of: list))
    var last: String?
    switch start {
    case nil: try await addHotels(of: list, after: nil, limit: limit, to: &shown)
    case .hotel(let cursor): try await addHotels(of: list, after: cursor, limit: limit, to: &shown)
    case .note(let title): last = title
    }
    if shown.next == nil {
      let rest = limit - shown.hotels.count
      try await addNotes(of: list, after: last, limit: rest, to: &shown)
    }
    return shown
  }

  private func addHotels(
    of list: AccountID, after cursor: BookmarkCursor?, limit: Int, to shown: inout ShownList
  ) async throws {
    let page = try await hotels.bookmarks(in: .list(list), limit: limit, after: cursor)
    for bookmark in page.bookmarks {
      shown.hotels.append(ShownHotel(bookmark))
      try await Slice.giveWay()
    }
    shown.next = page.next.map { .hotel($0) }
  }

  private func addNotes(
    of list: AccountID, after last: String?, limit: Int, to shown: inout ShownList
  ) async throws {
    guard limit > 0 else {
      shown.next = .note(last)
      return
    }
    let (notes, next) = try await publishedNotes(of: list, after: last, limit: limit)
    (shown.notes, shown.next) = (notes, next.map { .note($0) })
  }
}

/// What a link shows of a list: nothing of its members and nothing that only one of them sees.
package struct ShownList: Sendable {
  /// A position between two pages. It is opaque to clients: `h` and a position of hotels, or `n` and a note's title, which is
  /// empty before the first note.
  package enum Position: Sendable, CustomStringConvertible {
    case hotel(BookmarkCursor)
    case note(String?)

    /// The most bytes of ``description``.
    package static let maximumBytes = ListLimits.titleBytes + 1

    /// Reads a position as ``description`` wrote it; nil for any other text.
    package init?(_ text: String) {
      let rest = String(Substring(text.utf8.dropFirst()))
      switch text.utf8.first {
      case UInt8(ascii: "h"):
        guard let cursor = BookmarkCursor(rest) else { return nil }
        self = .hotel(cursor)
      case UInt8(ascii: "n"): self = .note(rest.isEmpty ? nil : rest)
      default: return nil
      }
    }

    package var description: String {
      switch self {
      case .hotel(let cursor): "h" + cursor.description
      case .note(let title): "n" + (title ?? "")
      }
    }
  }

  package let title: String
  /// The description, in markdown.
  package let markdown: String
  package let dates: TripDates
  /// When title, description or days last changed, by the server's clock.
  package let updatedAt: Timestamp
  package fileprivate(set) var hotels: [ShownHotel] = []
  package fileprivate(set) var notes: [ListNote] = []
  /// Where the next page begins; nil at the end.
  package fileprivate(set) var next: Position?

  fileprivate init(_ document: ListDocument) {
    (title, markdown, dates) = (document.title, document.markdown, document.dates)
    updatedAt = document.updated
  }
}

/// What a link shows of a hotel: its facts. What people have added to it by apps, such as their own words, is left out.
package struct ShownHotel: Sendable {
  /// The members of a hotel that are facts, as the contract names them.
  private static let facts = [
    "name", "title", "alias", "description", "address", "city", "state", "country", "geo", "phone",
    "url", "amenities", "price", "checkin", "checkout",
  ]

  package let id: HotelID
  /// The facts, with values as they are stored.
  package let hotel: JSONValue

  init(_ bookmark: Bookmark) {
    id = bookmark.id
    var shown: JSONObject = ["id": .string(id.text)]
    if let root = try? ParsedJSON(bookmark.hotel, limits: .request).root {
      for fact in Self.facts { if let value = root[fact]?.value { shown.append(fact, value) } }
    }
    hotel = .object(shown)
  }
}
