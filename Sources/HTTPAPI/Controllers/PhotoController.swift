import CouchSync
import Documents
import HTTPTypes
import Hotels
import Hummingbird
import Photos
import Scheduling
import Stores

/// The photos of bookmarks, the caller's own and those of lists.
struct PhotoController: Sendable {
  let hotels: HotelService
  let databases: CouchDatabaseAccess
  /// The long answers.
  let feeds: Feeds

  /// So many bytes are looked through before other work may run: 16 KiB.
  private static let bytesAtOnce = 16 << 10

  var routes: [Route] {
    let path = "/v1/bookmarks/{hotelID}/photos/{name}"
    return [
      Route(.get, path, access: .person) { call, person in
        try await read(call, in: databases.own(of: person, as: call.writeContext))
      },
      Route(.put, path, access: .person, answer: .kept) { call, person in
        try await put(call, in: WrittenStore(of: person))
      },
      Route(.delete, path, access: .person, answer: .kept) { call, person in
        try await delete(call, in: WrittenStore(of: person))
      },
    ]
  }

  /// Answers the photo that the path names.
  /// - Parameter store: the store with the caller's rights.
  func read(_ call: Call, in store: CouchStore) async throws -> Response {
    let (id, name) = (try call.hotelID(), try call.photoName())
    guard let (photo, facts) = try await hotels.photo(name, of: id, in: store.name) else {
      throw Problem.notFound
    }
    return try await AttachmentResponse(
      attachment: FoundAttachment(stub: photo.stub, facts: facts),
      tag: Base64.string(facts.md5), store: store, feeds: feeds
    ).response(
      to: call,
      [
        .cacheControl: "private, no-cache",
        .contentSecurityPolicy: "sandbox; default-src 'none'",
      ])
  }

  /// Stores the photo that the path names.
  func put(_ call: Call, in store: WrittenStore) async throws -> Response {
    let (id, name) = (try call.hotelID(), try call.photoName())
    let condition = try PhotoCondition(call)
    guard try await hotels.bookmark(id, in: store.name) != nil else { throw Problem.notFound }
    var photo = PhotoUpload()
    do {
      let type = try await receive(&photo, call, store)
      try await store.requireStillAllowed()
      let bytes = photo.upload.finish()
      let path = store.path + "/bookmarks/" + id.text.urlSegment + "/photos/" + name.text.urlSegment
      let outcome = try await write(at: path) { answer in
        try await hotels.putPhoto(
          name, type, bytes, of: id, in: store.name, condition: condition, as: call.writeContext,
          answer: answer)
      }
      guard let outcome else { throw Problem.notFound }
      if outcome.isUnchanged { await discard(photo, store) }
      return Self.answer(outcome, at: path).response
    } catch {
      await discard(photo, store)
      throw error
    }
  }

  /// Stores a photo, and keeps the answer in the same update.
  private func write(
    at path: String,
    _ useCase: (_ answer: @escaping Answering<PhotoOutcome?>) async throws ->
      PhotoOutcome?
  ) async throws -> PhotoOutcome? {
    try await useCase { outcome in outcome.map { Self.answer($0, at: path).kept } }
  }

  /// Receives the body. It is written to the store in parts, so that it is never whole in memory.
  /// - Throws: 413, 415, 422; 507 `quota_exceeded`.
  private func receive(
    _ photo: inout PhotoUpload, _ call: Call, _ store: WrittenStore
  ) async throws -> PhotoType {
    if let declared = call[.contentLength].flatMap({ Int($0) }), declared > Photo.maximumBytes {
      throw AttachmentUpload.tooLarge(Photo.maximumBytes)
    }
    var reserved = 0
    for try await bytes in try call.streamedBody() {
      for start in stride(from: 0, to: bytes.count, by: Self.bytesAtOnce) {
        try photo.append(Array(bytes[start..<min(start + Self.bytesAtOnce, bytes.count)]))
        try await Slice.giveWay()
      }
      try call.reserve(min(photo.upload.count, AttachmentLimits.heldBytes), beyond: &reserved)
      if photo.isFull {
        try await hotels.write(&photo, isLast: false, in: store.name, as: call.writeContext)
      }
    }
    let type = try photo.check()
    if photo.upload.isBegun {
      try await hotels.write(&photo, isLast: true, in: store.name, as: call.writeContext)
    }
    return type
  }

  private func discard(_ photo: PhotoUpload, _ store: WrittenStore) async {
    guard photo.upload.isBegun else { return }
    let hotels = hotels
    // A task of its own, because the request may have ended.
    await Work.waiting { await Work.shared { await hotels.discard(photo, in: store.name) }.value }
  }

  /// Removes the photo that the path names.
  func delete(_ call: Call, in store: WrittenStore) async throws -> Response {
    let (id, name) = (try call.hotelID(), try call.photoName())
    let revision = try await hotels.deletePhoto(
      name, of: id, in: store.name, condition: try PhotoCondition(call), as: call.writeContext
    ) { revision in revision == nil ? nil : WriteAnswer(.noContent).kept }
    guard revision != nil else { throw Problem.notFound }
    return .empty(.noContent)
  }

  /// No entity tag: what is stored is not what was sent (RFC 9110, section 9.3.4).
  private static func answer(_ outcome: PhotoOutcome, at path: String) -> WriteAnswer {
    .json(
      outcome.isNew ? .created : .ok, headers: outcome.isNew ? [.location: path] : [:]
    ) { writer in
      outcome.photo.appendMembers(to: &writer)
      writer.member("rev", outcome.revision.description)
    }
  }
}

extension Call {
  /// The photo that the path names.
  /// - Throws: ``DocumentError`` with code `invalidAttachment`.
  fileprivate func photoName() throws -> AttachmentName {
    try AttachmentName(try parameter("name"))
  }
}

extension PhotoCondition {
  /// Reads `If-Match` and `If-None-Match: *`.
  /// - Throws: ``Problem`` 400 for an invalid field.
  fileprivate init(_ call: Call) throws(Problem) {
    self = try EntityTags.condition(
      of: call, strong: false, none: .none, exists: .exists, absent: .absent
    ) { .matches($0) }
  }
}
