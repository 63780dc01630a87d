package import Documents
package import Photos
package import Stores

/// The effect of putting a photo.
package struct PhotoOutcome: Sendable {
  package let photo: Photo
  /// The revision of the hotel's document.
  package let revision: RevisionID
  /// Whether the bookmark had no photo of this name.
  package let isNew: Bool
  /// Whether the bookmark had the same bytes under this name, so that nothing was written.
  package let isUnchanged: Bool
}

/// The photos of bookmarks. They are attachments of the hotels' documents, so that sync clients have them too.
extension HotelService {
  /// What is known of a photo; nil for one that the bookmark does not have, and for a hotel that is not bookmarked.
  /// - Throws: `store`.
  package func photo(
    _ name: AttachmentName, of id: HotelID, in store: StoreName
  ) async throws -> (photo: Photo, facts: AttachmentFacts)? {
    guard try await bookmark(id, in: store) != nil else { return nil }
    return try await stores.read(store) { view in
      guard case .live(let bookmark) = try StoredHotel(id, in: view),
        let photo = bookmark.photos.first(where: { $0.stub.name == name }),
        let key = try view.attachmentKeys(of: id.documentID, bookmark.revision)[name],
        let facts = try view.attachment(key)
      else { return nil }
      return (photo, facts)
    } ?? nil
  }

  /// Writes the part of a photo that has arrived.
  /// - Parameter isLast: whether no further bytes come.
  /// - Throws: `quotaExceeded`, `absent`, `store`.
  package func write(
    _ photo: inout PhotoUpload, isLast: Bool, in name: StoreName, as context: WriteContext
  ) async throws {
    let isWritten: Void? = try await stores.withStore(name, creating: false) { store in
      guard let store else { return nil }
      return try await photo.writing { try await store.write(&$0, isLast: isLast, as: context) }
    }
    guard isWritten != nil else { throw ServiceError.absent }
  }

  /// Removes what was written of a photo that is not used.
  package func discard(_ photo: PhotoUpload, in name: StoreName) async {
    guard photo.upload.isBegun else { return }
    try? await stores.withStore(name, creating: false) { await $0?.discard(photo.upload) }
  }

  /// Gives a bookmark a photo, instead of one of the same name. The same photo again writes nothing.
  /// - Parameter bytes: the photo, cleaned.
  /// - Returns: nil for a hotel that is not bookmarked.
  /// - Throws: `precondition`; `occupied` if an attachment that is no photo has the name; `tooManyPhotos`;
  ///   `quotaExceeded`, `store`.
  package func putPhoto(
    _ name: AttachmentName, _ type: PhotoType, _ bytes: NewAttachment, of id: HotelID,
    in store: StoreName, condition: PhotoCondition, as context: WriteContext,
    answer: Answering<PhotoOutcome?>? = nil
  ) async throws -> PhotoOutcome? {
    try await change(store, creating: false, [id], as: context, answer: answer) { edit in
      try edit.editPhoto(name, of: id, condition) { stubs, generation in
        let index = stubs.firstIndex { $0.name == name }
        if let index {
          guard Photo(stubs[index]) != nil else {
            throw ServiceError(.occupied, "An attachment that is no photo has the name \(name)")
          }
          guard
            stubs[index].contentType != type.contentType
              || !stubs[index].digest.equalsBytes(of: bytes.facts.digest)
          else { return nil }
        }
        let stub = AttachmentStub(
          name: name, contentType: type.contentType, generation: generation,
          digest: bytes.facts.digest, length: bytes.facts.length)
        if let index { stubs[index] = stub } else { stubs.append(stub) }
        guard index != nil || stubs.count(where: { Photo($0) != nil }) <= Photo.most,
          stubs.count <= IncomingAttachment.most
        else { throw ServiceError(.tooManyPhotos, "A bookmark has at most \(Photo.most) photos") }
        return .new(bytes)
      }
    } ?? nil
  }

  /// Removes a photo of a bookmark. The others stay.
  /// - Returns: the revision of the hotel's document; nil if there is no such photo.
  /// - Throws: `precondition`, `store`.
  package func deletePhoto(
    _ name: AttachmentName, of id: HotelID, in store: StoreName, condition: PhotoCondition,
    as context: WriteContext, answer: Answering<RevisionID?>? = nil
  ) async throws -> RevisionID? {
    try await change(store, creating: false, [id], as: context, answer: answer) { edit in
      try edit.removePhoto(name, of: id, condition)
    } ?? nil
  }
}

extension BookmarkEdit {
  /// Changes the attachments of a bookmark so that a photo is one of them.
  /// - Parameter change: changes the attachments, and returns the photo's bytes; nil to write nothing.
  fileprivate mutating func editPhoto(
    _ name: AttachmentName, of id: HotelID, _ condition: PhotoCondition,
    _ change: (inout [AttachmentStub], _ generation: Int) throws -> AttachmentContent?
  ) throws -> PhotoOutcome? {
    guard let bookmark = try bookmark(id) else { return nil }
    let body = try DocumentBody(parsing: bookmark.hotel, limits: .stored)
    var stubs = body.attachments
    let former = stubs.first { $0.name == name }
    try condition.check(former)
    let content = try change(&stubs, bookmark.revision.generation + 1)
    guard let photo = stubs.first(where: { $0.name == name }).flatMap(Photo.init) else {
      return nil
    }
    guard let content else {
      return PhotoOutcome(
        photo: photo, revision: bookmark.revision, isNew: false, isUnchanged: true)
    }
    let changed = try put(
      id, try body.with(stubs), base: bookmark.revision, created: bookmark.bookmarkedAt)
    attached[AttachedRevision(id: id.documentID, revision: changed.revision)] = [name: content]
    return PhotoOutcome(
      photo: photo, revision: changed.revision, isNew: former == nil, isUnchanged: false)
  }

  fileprivate mutating func removePhoto(
    _ name: AttachmentName, of id: HotelID, _ condition: PhotoCondition
  ) throws -> RevisionID? {
    guard let bookmark = try bookmark(id) else { return nil }
    let body = try DocumentBody(parsing: bookmark.hotel, limits: .stored)
    var stubs = body.attachments
    let index = stubs.firstIndex { $0.name == name && Photo($0) != nil }
    try condition.check(index.map { stubs[$0] })
    guard let index else { return nil }
    stubs.remove(at: index)
    return try put(
      id, try body.with(stubs), base: bookmark.revision, created: bookmark.bookmarkedAt
    ).revision
  }
}
