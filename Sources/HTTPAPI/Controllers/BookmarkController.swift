import Accounts
import Documents
import HTTPTypes
import Hotels
import Hummingbird
import Stores

/// The caller's bookmarks. Those of a list are changed here too.
struct BookmarkController: Sendable {
  let hotels: HotelService
  /// Adds the facts of new bookmarks.
  let lookUp: HotelLookUp

  var routes: [Route] {
    [
      Route(.get, "/v1/bookmarks", access: .person) { call, person in
        try await list(call, in: person.store)
      },
      Route(.post, "/v1/bookmarks", access: .person, answer: .kept) { call, person in
        try await change(call, in: WrittenStore(of: person))
      },
      Route(.get, "/v1/bookmarks/{hotelID}", access: .person) { call, person in
        try await read(call, in: person.store)
      },
      Route(.put, "/v1/bookmarks/{hotelID}", access: .person, answer: .kept) { call, person in
        try await put(call, in: WrittenStore(of: person))
      },
      Route(.delete, "/v1/bookmarks/{hotelID}", access: .person, answer: .kept) { call, person in
        try await delete(call, in: WrittenStore(of: person))
      },
    ]
  }

  private func list(_ call: Call, in store: StoreName) async throws -> Response {
    let (limit, after) = try call.bookmarkPage()
    if let known = try EntityTags(call, .ifNoneMatch, strong: false) {
      let tag = try await hotels.tag(in: store)
      if known.matches(tag) {
        var fields = HTTPFields.tagged(tag)
        fields[.vary] = "Accept-Encoding"
        return .empty(.notModified, headers: fields)
      }
    }
    let page = try await hotels.bookmarks(in: store, limit: limit, after: after)
    return try await .packed(page.bytes, headers: .tagged(page.tag), for: call)
  }

  private func read(_ call: Call, in store: StoreName) async throws -> Response {
    let id = try call.hotelID()
    guard let bookmark = try await hotels.bookmark(id, in: store) else { throw Problem.notFound }
    let tag = EntityTags.tag(bookmark.revision.description, of: store)
    if let answer = try call.notModified(tag, .tagged(tag)) { return answer }
    return .json(bookmark.bytes, headers: .tagged(tag))
  }

  /// Writes the bookmark that the path names.
  func put(_ call: Call, in store: WrittenStore) async throws -> Response {
    let id = try call.hotelID()
    let condition = try RevisionCondition(call)
    let (additions, failure) = try await lookUp.find([try await call.hotelToPut(id)])
    guard let addition = additions.first else { throw Problem.notFound }
    try await store.requireStillAllowed()
    do {
      return try await .written(as: { Self.answer($0, in: store) }) { answer in
        try await hotels.bookmark(
          addition, in: store.name, condition: condition, as: call.writeContext, answer: answer)
      }
    } catch { throw HotelLookUp.refusal(error, instead: failure) }
  }

  /// Removes the bookmark that the path names.
  func delete(_ call: Call, in store: WrittenStore) async throws -> Response {
    let id = try call.hotelID()
    let condition = try RevisionCondition(call)
    let tombstone = try await hotels.unbookmark(
      id, in: store.name, condition: condition, as: call.writeContext
    ) { tombstone in tombstone == nil ? nil : WriteAnswer(.noContent).kept }
    guard tombstone != nil else { throw Problem.notFound }
    return .empty(.noContent)
  }

  private static func answer(_ outcome: BookmarkOutcome, in store: WrittenStore) -> WriteAnswer {
    let (bookmark, isCreated) = (outcome.bookmark, outcome.effect == .created)
    var fields = HTTPFields.tagged(EntityTags.tag(bookmark.revision.description, of: store.name))
    if isCreated { fields[.location] = store.path + "/bookmarks/" + bookmark.id.text.urlSegment }
    return .json(isCreated ? .created : .ok, headers: fields) { writer in
      bookmark.appendMembers(to: &writer, isReplaced: outcome.effect == .replaced)
    }
  }

  /// Changes several bookmarks at once: all or none.
  func change(_ call: Call, in store: WrittenStore) async throws -> Response {
    let bytes = try await call.body(upTo: JSONLimits.document.maximumBytes)
    var batch = try BookmarkBatch(parsing: try await call.json(bytes, .document))
    let failure: SearchError?
    (batch.add, failure) = try await lookUp.find(batch.add)
    try await store.requireStillAllowed()
    do {
      return try await .written(as: { WriteAnswer(.ok, body: $0.bytes) }) { [batch] answer in
        try await hotels.change(batch, in: store.name, as: call.writeContext, answer: answer)
      }
    } catch { throw HotelLookUp.refusal(error, instead: failure) }
  }
}
