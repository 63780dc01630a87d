import Accounts
import Documents
import HTTPTypes
import Hotels
import Hummingbird
import Lists
import Stores

/// The bookmarks of a list. Unlike those of a person's own store, they include the reader's drafts and the name of the
/// member who added each.
extension HTTPService {
  /// Answers a list's bookmarks with the person's own drafts applied, and with who added each bookmark.
  func listBookmarks(
    _ call: Call, of list: AccountID, for person: Principal
  ) async throws -> Response {
    let (limit, after) = try Self.page(call)
    let drafts = try await lists.drafts(on: list, of: person.id)
    let bookmarks = drafts.compactMap { draft -> (id: HotelID, draft: ListDraft)? in
      guard case .bookmark(let id) = draft.subject else { return nil }
      return (id, draft)
    }
    var page = try await hotels.bookmarks(in: .list(list), limit: limit, after: after)
    if !bookmarks.isEmpty {
      let known = try await hotels.bookmarked(among: bookmarks.map(\.id), in: .list(list))
      let revisions = bookmarks.map { $0.draft.revision?.description ?? "" }.joined()
      page = page.with(
        drafts: bookmarks.map { ($0.id, $0.draft.bookmark(over:)) },
        mark: Hex.digest(of: person.id.text + revisions, digits: 16), isFirst: after == nil,
        isBookmarked: { known.contains($0) })
    }
    if let tags = try EntityTags(call, .ifNoneMatch, strong: false), tags.matches(page.tag) {
      var fields = HTTPFields.tagged(page.tag)
      fields[.vary] = "Accept-Encoding"
      return .empty(.notModified, headers: fields)
    }
    let names = try await adders(of: page.bookmarks.map(\.id), on: list)
    return try await .packed(
      page.added { names[$0] }.bytes, headers: .tagged(page.tag), for: call)
  }

  /// Answers one bookmark of a list with the person's own draft applied.
  func readBookmark(
    _ call: Call, of list: AccountID, for person: Principal
  ) async throws -> Response {
    let id = try Self.hotelID(call)
    var bookmark = try await hotels.bookmark(id, in: .list(list))
    if let draft = try await lists.draft(.bookmark(id), on: list, of: person.id) {
      bookmark = draft.bookmark(over: bookmark)
    }
    guard var bookmark else { throw Problem.notFound }
    let revision = bookmark.revision.description
    let tag = bookmark.isDraft ? EntityTags.tag(revision, of: person.id.text) : revision
    if let known = try EntityTags(call, .ifNoneMatch, strong: false), known.matches(tag) {
      return .empty(.notModified, headers: .tagged(tag))
    }
    bookmark.addedBy = try await adders(of: [id], on: list)[id]
    return .json(Self.bytes(bookmark), headers: .tagged(tag))
  }

  /// The names of those who added the bookmarks, as far as they are still members of the list.
  private func adders(
    of ids: [HotelID], on list: AccountID
  ) async throws -> [HotelID: String] {
    let authors = try await hotels.adders(of: ids, in: .list(list))
    let users = authors.values.compactMap(\.user)
    let names = try await lists.names(of: users, on: list)
    return authors.compactMapValues { author in
      author.user.flatMap { names[$0]?.username }
    }
  }
}
