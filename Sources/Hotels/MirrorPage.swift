import Documents
import Stores

/// One page of the changes that a client's copy of the bookmarks lacks.
///
/// The copy has two parts: hotels by id, and the order, a list of ids. A client applies a page as follows. If the
/// page is a `reset`, the client deletes its copy. It stores every hotel of `hotels`, deletes every one of
/// `removed`, and replaces its order by `order` when the page has one. Its bookmarks are the ids of the order for
/// which it has a hotel. While a page says `more`, the client asks again with the page's token.
package struct MirrorPage: Sendable {
  /// The most hotels in one page.
  package static let rows = 1_000
  /// A page ends once it has this many bytes of hotels: 4 MiB.
  package static let bytes = 4 << 20
  /// The most changes that one page looks at.
  package static let scan = 5_000

  /// The copy's position once the page is applied; also the answer's entity-tag.
  package let token: MirrorToken
  /// Whether the client must delete its copy first.
  let isReset: Bool
  /// Whether there are further pages.
  let hasMore: Bool
  /// Hotels that are new or have changed.
  let hotels: [Bookmark]
  /// Hotels that were deleted, and documents that are not hotels any more.
  let removed: [(id: DocumentID, revision: RevisionID)]
  /// All bookmarked ids, newest first; nil when the list has not changed.
  let order: [HotelID]?
  /// Documents of any kind that the store has lost to damage.
  var damage: [Damage] = []

  /// The page as JSON.
  package var json: [UInt8] {
    JSONWriter.object(reserving: 256 + hotels.reduce(0) { $0 + $1.hotel.count + 160 }) {
      writer in
      writer.member("token", token.description)
      writer.member("reset", isReset)
      writer.member("more", hasMore)
      writer.objects("hotels", of: hotels) { $0.appendMembers(to: &$1) }
      writer.objects("removed", of: removed) { gone, writer in
        writer.member("id", gone.id.text)
        writer.member("rev", gone.revision.description)
      }
      if let order { writer.array("order", of: order) { $1.string($0.text) } }
      if !damage.isEmpty { writer.damaged(damage) }
    }
  }
}
