import Documents
import Stores

/// What a copy of somebody's bookmarks lacks, or as much of it as one answer holds.
///
/// The copy is two things: hotels by id, and the order, a list of ids. A client applies a page so: if it is a
/// `reset`, it forgets all; it puts every one of `hotels`, drops every one of `removed`, and takes over `order`
/// where there is one. Its bookmarks are then the ids of the order that it has a hotel of. While a page has
/// `more` it asks again with the page's token.
package struct MirrorPage: Sendable {
  /// Hotels of one page at most.
  package static let rows = 1_000
  /// Bytes of hotels after which a page ends: 4 MiB.
  package static let bytes = 4 << 20
  /// Changes that one page looks at.
  package static let scan = 5_000

  /// Where the copy stands once the page is applied; the answer's entity-tag.
  package let token: MirrorToken
  /// Whether the page begins from nothing.
  let isReset: Bool
  /// Whether there is more.
  let hasMore: Bool
  /// Hotels that are new or have changed.
  let hotels: [Bookmark]
  /// Hotels that are no longer there: their tombstones, or documents that are no hotels any more.
  let removed: [(id: DocumentID, revision: RevisionID)]
  /// All bookmarked ids, newest first; nil where the list has not changed.
  let order: [HotelID]?
  /// What the store has lost to damage, documents of any kind.
  var damage: [Damage] = []

  /// The page as JSON.
  package var json: [UInt8] {
    var writer = JSONWriter(reserving: 256 + hotels.reduce(0) { $0 + $1.hotel.count + 160 })
    writer.beginObject()
    writer.member("token", token.description)
    writer.member("reset", isReset)
    writer.member("more", hasMore)
    writer.name("hotels")
    writer.beginArray()
    for hotel in hotels {
      var bytes: [UInt8] = []
      hotel.append(to: &bytes)
      writer.raw(bytes)
    }
    writer.endArray()
    writer.name("removed")
    writer.beginArray()
    for (id, revision) in removed {
      writer.beginObject()
      writer.member("id", id.text)
      writer.member("rev", revision.description)
      writer.endObject()
    }
    writer.endArray()
    if let order {
      writer.name("order")
      writer.beginArray()
      for id in order { writer.string(id.text) }
      writer.endArray()
    }
    if !damage.isEmpty { writer.damaged(damage) }
    writer.endObject()
    return writer.bytes
  }
}
