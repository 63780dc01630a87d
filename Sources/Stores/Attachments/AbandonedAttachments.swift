import Documents
import Scheduling

/// The end of attachments that nothing needs any more.
///
/// An edit, a purge or a deletion may free names of 40,000 attachments, or 256 MiB of bytes. An update removes a few itself
/// and leaves marks of the others: of notes with names (``LocalID/forgottenNames``), which count as long as they are there,
/// and of pieces, as of an attachment whose document never came. Later updates remove them, each as many as take some
/// milliseconds: at once, for the client that caused it, or, if the server has stopped, by maintenance.
extension DocumentStore {
  /// Removes what updates have left, and what was written of attachments whose documents have not come for
  /// ``AttachmentLimits/abandonedSeconds``.
  package func removeAbandonedAttachments() async throws {
    var store = self
    // What such an update leaves is removed by the next one.
    store.removesAbandoned = false
    let end = now().adding(seconds: -AttachmentLimits.abandonedSeconds)
    while let next = try await readInline({ view in try view.abandoned(before: end) }) {
      try await store.update(as: .server) { changes in
        changes.freesSpace = true
        for name in next.uploads { try changes.removeUpload(name) }
        for note in next.notes { try changes.removeNames(note) }
      }
      try await Slice.giveWay()
    }
  }
}

extension StoreView {
  /// The first that are to be removed, as far as one update can: names of pieces, and notes with names.
  /// - Parameter end: uploads that got no bytes since then are.
  fileprivate func abandoned(
    before end: Timestamp
  ) throws -> (uploads: [String], notes: [LocalID])? {
    guard try local(.attachmentTotal) != nil else { return nil }
    let most = AttachmentLimits.removedAtOnce
    let uploads = try localValues(.below(LocalID.uploadPrefix), atMost: most) { id, note in
      let mark = try UploadMark(note)
      return mark.isAbandoned || mark.began < end ? AnswerKeys.last(of: id) : nil
    }
    let notes = try localIDs(.below(LocalID.forgottenNamesPrefix), atMost: most) { id in
      LocalID.attachmentNames(AnswerKeys.last(of: id))
    }
    return uploads.isEmpty && notes.isEmpty ? nil : (uploads, notes)
  }
}

/// Names.
extension StoreChanges {
  /// Whether this update removes so many further names itself.
  mutating func removes(names count: Int) -> Bool {
    guard removed.names + count <= AttachmentLimits.removedNames else { return false }
    removed.names += count
    return true
  }

  /// Of keys that a note has lost, those that this update takes from their counts. The others get notes that no revision
  /// has, so that they still count.
  /// - Parameter owner: the id of the document, or of the note.
  mutating func some(
    of keys: Set<AttachmentKey>, of owner: DocumentID
  ) throws -> ArraySlice<AttachmentKey> {
    var rest = keys.sorted()[...]
    let few = rest.prefix(AttachmentLimits.removedNames - removed.names)
    removed.names += few.count
    rest = rest.dropFirst(few.count)
    while !rest.isEmpty {
      let part = rest.prefix(AttachmentLimits.removedNames)
      rest = rest.dropFirst(part.count)
      let names = part.enumerated().map { (AttachmentName(stored: "\($0)"), $1) }
      let json = AttachmentNames(Dictionary(uniqueKeysWithValues: names)).json
      // The same names may be forgotten once more before this note is gone.
      let number = Array("\(try view.info().lastSequence)".utf8)
      let note = LocalID.attachmentNames(AttachmentNames.id(of: json + number, of: owner))
      write(LocalEdit(note, LocalDocument(revision: 1, body: json)))
      forget(note)
    }
    return few
  }

  /// Marks a note that no revision has any more.
  mutating func forget(_ note: LocalID) {
    write(LocalEdit(note.forgottenNames, LocalDocument(revision: 1, body: Array("{}".utf8))))
    leavesAbandoned = true
  }

  /// Takes such a mark away, so that a revision can have the note again.
  /// - Returns: whether there was one. Then the note's names still count.
  mutating func recall(_ note: LocalID) throws -> Bool {
    guard try local(note.forgottenNames) != nil else { return false }
    write(LocalEdit(note.forgottenNames, nil))
    return true
  }

  /// Removes a marked note, unless a revision has it again, or this update has removed too many names already.
  fileprivate mutating func removeNames(_ note: LocalID) throws {
    guard removed.names < AttachmentLimits.removedNames else { return }
    let names = try attachmentNames(note)
    guard removed.names == 0 || removed.names + names.count <= AttachmentLimits.removedNames,
      try recall(note)
    else { return }
    write(LocalEdit(note, nil))
    for key in try some(of: names, of: DocumentID(stored: note.text)) { try count(-1, of: key) }
  }
}

/// Pieces.
extension StoreChanges {
  /// The mark of an attachment whose document has not come, with what this update has recorded.
  func upload(_ name: String) throws -> UploadMark? {
    try local(.upload(name)).map { try UploadMark($0) }
  }

  /// Removes an attachment whose document has not come, or leaves it to later updates.
  mutating func abandon(_ name: String) throws {
    guard let mark = try upload(name) else { return }
    write(LocalEdit(.upload(name), nil))
    try remove(pieces: mark.pieces, of: name, bytes: mark.bytes)
  }

  /// Removes all pieces of a name if that are few bytes, and leaves them to later updates otherwise. They count until then.
  mutating func remove(pieces count: Int, of name: String, bytes: Int64) throws {
    guard removed.bytes + bytes <= AttachmentLimits.removedBytes else {
      let mark = UploadMark(began: UploadMark.abandoned, pieces: count, bytes: bytes)
      write(LocalEdit(.upload(name), mark.note))
      leavesAbandoned = true
      return
    }
    removed.bytes += bytes
    for index in 0..<count { write(LocalEdit(.piece(index, of: name), nil)) }
    try addBytes(-bytes)
  }

  /// Removes the last pieces of an abandoned attachment, and its mark with the first piece. Does nothing if this update has
  /// removed enough already.
  fileprivate mutating func removeUpload(_ name: String) throws {
    let left = (AttachmentLimits.removedBytes - Int(removed.bytes)) / AttachmentLimits.pieceBytes
    guard left > 0, let mark = try upload(name) else { return }
    let rest = max(0, mark.pieces - left)
    removed.bytes += Int64((mark.pieces - rest) * AttachmentLimits.pieceBytes)
    // Only the last piece of an attachment is short.
    let bytes = min(mark.bytes, Int64(rest * AttachmentLimits.pieceBytes))
    let next = UploadMark(began: UploadMark.abandoned, pieces: rest, bytes: bytes)
    write(LocalEdit(.upload(name), rest > 0 ? next.note : nil))
    for index in rest..<mark.pieces { write(LocalEdit(.piece(index, of: name), nil)) }
    try addBytes(bytes - mark.bytes)
  }
}
