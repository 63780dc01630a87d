import Documents

/// Attachments that arrive in parts, before their document.
///
/// A mark says that the document has not come yet. What was written of an attachment whose document never comes, because
/// the client or the server has stopped, is removed later (``removeAbandonedAttachments()``): at the start of the next such
/// attachment, and by maintenance.
extension DocumentStore {
  /// Writes the bytes that have arrived.
  /// - Parameter isLast: whether no further bytes come.
  /// - Throws: `quotaExceeded`; the store's errors. The attachment then has to be discarded.
  package func write(
    _ upload: inout AttachmentUpload, isLast: Bool = false, as context: WriteContext
  ) async throws {
    if !upload.isBegun { try await removeAbandonedAttachments() }
    let name = upload.name
    let (first, pieces) = upload.takePieces(isLast: isLast)
    try await update(as: context) { changes in
      try changes.receive(pieces, of: name, from: first, at: changes.time)
    }
  }

  /// Removes what was written of an attachment whose document was not written. Does nothing for any other.
  package func discard(_ upload: AttachmentUpload) async {
    guard upload.isBegun else { return }
    let name = upload.name
    _ = try? await update(as: .server) { changes in
      changes.freesSpace = true
      try changes.abandon(name)
    }
  }
}

/// The mark of an attachment whose document has not come: `{"began":ms,"pieces":n,"bytes":n}`.
struct UploadMark {
  /// Stands for the time of one that is being removed.
  static let abandoned = Timestamp(milliseconds: -1)

  /// When its last bytes came.
  var began: Timestamp
  var pieces = 0
  var bytes: Int64 = 0

  var isAbandoned: Bool { began.milliseconds < 0 }
}

extension UploadMark {
  init(_ note: LocalDocument) throws {
    guard let root = try? ParsedJSON(note.body, limits: .small).root,
      let began = root["began"]?.int, let pieces = root["pieces"]?.int,
      let bytes = root["bytes"]?.int
    else { throw ServiceError(.integrity, "The mark of an attachment can't be read") }
    self.init(
      began: Timestamp(milliseconds: Int64(began)), pieces: pieces, bytes: Int64(bytes))
  }

  var note: LocalDocument {
    return LocalDocument(
      revision: 1,
      body: JSONWriter.object { writer in
        writer.member("began", Int(clamping: began.milliseconds))
        writer.member("pieces", pieces)
        writer.member("bytes", Int(clamping: bytes))
      })
  }
}

extension StoreChanges {
  fileprivate mutating func receive(
    _ pieces: [[UInt8]], of name: String, from first: Int, at now: Timestamp
  ) throws {
    guard !pieces.isEmpty else { return }
    let known = try upload(name)
    guard first == known?.pieces ?? 0, known?.isAbandoned != true else {
      throw ServiceError.uploadGone
    }
    var mark = known ?? UploadMark(began: now)
    mark.began = now
    let bytes = Int64(pieces.reduce(0) { $0 + $1.count })
    mark.pieces += pieces.count
    mark.bytes += bytes
    write(LocalEdit(.upload(name), mark.note))
    write(pieces, of: name, from: first)
    try addBytes(bytes)
    attachedBytes += bytes
  }
}
