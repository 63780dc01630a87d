import Accounts
import Documents
import HTTPTypes
import Hotels
import Hummingbird
import JSON
import Stores

extension HTTPService {
  /// The caller's bookmarks.
  var bookmarkRoutes: [Route] {
    [
      Route(.get, "/v1/bookmarks", access: .person) { call, person in
        try await listBookmarks(call, in: person.store)
      },
      Route(.post, "/v1/bookmarks", access: .person, answer: .kept) { call, person in
        try await changeBookmarks(call, in: WrittenStore(of: person))
      },
      Route(.get, "/v1/bookmarks/{hotelID}", access: .person) { call, person in
        try await readBookmark(call, in: person.store)
      },
      Route(.put, "/v1/bookmarks/{hotelID}", access: .person, answer: .kept) { call, person in
        try await putBookmark(call, in: WrittenStore(of: person))
      },
      Route(.delete, "/v1/bookmarks/{hotelID}", access: .person, answer: .kept) { call, person in
        try await deleteBookmark(call, in: WrittenStore(of: person))
      },
    ]
  }

  func listBookmarks(_ call: Call, in store: StoreName) async throws -> Response {
    let (limit, after) = try Self.page(call)
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

  /// The page that a query asks for.
  static func page(_ call: Call) throws(Problem) -> (limit: Int, after: BookmarkCursor?) {
    let query = try call.query("limit", "after")
    let limit = try query.int("limit", in: 1...HotelQuery.maximumLimit, default: 50)
    guard let text = query["after"] else { return (limit, nil) }
    guard let cursor = BookmarkCursor(text) else {
      throw Problem(
        .badRequest, "invalid_parameter", "after must be the next of an earlier answer")
    }
    return (limit, cursor)
  }

  func readBookmark(_ call: Call, in store: StoreName) async throws -> Response {
    let id = try Self.hotelID(call)
    guard let bookmark = try await hotels.bookmark(id, in: store) else { throw Problem.notFound }
    let tag = EntityTags.tag(bookmark.revision.description, of: store)
    if let known = try EntityTags(call, .ifNoneMatch, strong: false), known.matches(tag) {
      return .empty(.notModified, headers: .tagged(tag))
    }
    return .json(Self.bytes(bookmark), headers: .tagged(tag))
  }

  func putBookmark(_ call: Call, in store: WrittenStore) async throws -> Response {
    let id = try Self.hotelID(call)
    let condition = try RevisionCondition(call)
    let (additions, failure) = try await lookUp.find([try await hotelToPut(call, id: id)])
    guard let addition = additions.first else { throw Problem.notFound }
    try await store.requireStillAllowed()
    do {
      return try await .written(as: { Self.answer($0, in: store) }) {
        try await hotels.bookmark(addition, in: store.name, condition: condition)
      }
    } catch {
      throw HotelLookUp.refusal(error, instead: failure)
    }
  }

  func deleteBookmark(_ call: Call, in store: WrittenStore) async throws -> Response {
    let id = try Self.hotelID(call)
    let condition = try RevisionCondition(call)
    return try await .written(as: { (_: RevisionID) in WriteAnswer(.noContent) }) {
      let tombstone = try await hotels.unbookmark(id, in: store.name, condition: condition)
      guard let tombstone else { throw Problem.notFound }
      return tombstone
    }
  }

  private static func answer(_ outcome: BookmarkOutcome, in store: WrittenStore) -> WriteAnswer {
    let bookmark = outcome.bookmark
    var fields = HTTPFields.tagged(EntityTags.tag(bookmark.revision.description, of: store.name))
    if outcome.isCreated {
      fields[.location] = store.path + "/bookmarks/" + bookmark.id.text.urlSegment
    }
    var bytes: [UInt8] = []
    bookmark.append(to: &bytes, isReplaced: outcome.isReplaced)
    return WriteAnswer(outcome.isCreated ? .created : .ok, headers: fields, body: bytes)
  }

  /// The hotel in the body; without a body, a hotel of which only the id is given.
  func hotelToPut(_ call: Call, id: HotelID) async throws -> HotelAddition {
    let bytes = try await call.body(upTo: BookmarkLimits.hotelBytes)
    guard !bytes.isEmpty else { return HotelAddition(known: id) }
    let node = try await call.json(bytes, .small)
    let hotel = try Hotel(node, from: .client)
    let isNamed = ["_id", "id", "docid"].contains { !(node[$0]?.isNull ?? true) }
    guard !isNamed || Hotel.canonical(hotel.id.text).equalsBytes(of: Hotel.canonical(id.text))
    else {
      throw Problem(.badRequest, "doc_validation", "The hotel's id must be the one in the path")
    }
    let named = Hotel(id: id, body: hotel.body)
    return HotelShape.hasFacts(node) ? HotelAddition(facts: named) : HotelAddition(bare: named)
  }

  static func hotelID(_ call: Call) throws(Problem) -> HotelID {
    let text = try call.parameter("hotelID")
    guard let id = HotelID(text) else {
      throw Problem(
        .badRequest, "illegal_docid",
        "A hotel's id has 1 to \(DocumentID.maximumBytes) bytes and starts with no underscore")
    }
    return id
  }

  static func bytes(_ bookmark: Bookmark) -> [UInt8] {
    var bytes: [UInt8] = []
    bookmark.append(to: &bytes)
    return bytes
  }
}

extension HTTPService {
  /// Changes several bookmarks at once: all or none.
  func changeBookmarks(_ call: Call, in store: WrittenStore) async throws -> Response {
    let bytes = try await call.body(upTo: JSONLimits.document.maximumBytes)
    var batch = try BookmarkBatch(parsing: try await call.json(bytes, .document))
    let failure: SearchError?
    (batch.add, failure) = try await lookUp.find(batch.add)
    try await store.requireStillAllowed()
    do {
      return try await .written(as: { WriteAnswer(.ok, body: $0.bytes) }) { [batch] in
        try await hotels.change(batch, in: store.name)
      }
    } catch {
      throw HotelLookUp.refusal(error, instead: failure)
    }
  }
}

/// A store that a request writes to, and a check of the caller's permission. A body may take a minute to arrive and an
/// upstream seconds to answer; the permission may end meanwhile.
struct WrittenStore: Sendable {
  /// The name of the store.
  let name: StoreName
  /// The beginning of the path of the store's bookmarks.
  let path: String
  /// Checks the permission again.
  let requireStillAllowed: @Sendable () async throws -> Void

  /// A store with its check.
  init(
    _ name: StoreName, path: String,
    _ requireStillAllowed: @escaping @Sendable () async throws -> Void
  ) {
    self.name = name
    self.path = path
    self.requireStillAllowed = requireStillAllowed
  }

  /// A person's own store, which needs no second check: valid credentials are enough.
  init(of person: Principal) {
    self.init(person.store, path: "/v1") {}
  }
}
