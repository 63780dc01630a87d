package import Documents

/// Reading attachments.
extension StoreView {
  /// How many bytes the store's attachments have. The quota counts them.
  package func attachmentBytes() throws -> Int64 { try ByteTotal(local(.attachmentTotal)).bytes }

  /// The keys of the attachments that a revision names; empty for one that names none or has no body any more.
  package func attachmentKeys(
    of id: DocumentID, _ revision: RevisionID
  ) throws -> [AttachmentName: AttachmentKey] {
    try AttachmentRecord(of: id, in: self).names(of: revision, from: local)
  }

  /// Checks that the revisions of a document may name further attachments.
  /// - Parameter names: how many names the present update adds, and their bytes.
  /// - Throws: ``DocumentError`` with code `tooManyLeaves`.
  package func requireRoom(for names: (count: Int, bytes: Int), of id: DocumentID) throws {
    try AttachmentRecord(of: id, in: self).requireRoom(
      for: names.bytes + names.count * AttachmentNames.keyBytes)
  }

  /// Whether some kept revision of a document names these bytes.
  package func names(_ key: AttachmentKey, in id: DocumentID) throws -> Bool {
    let record = try AttachmentRecord(of: id, in: self)
    guard !record.keysHere.contains(key) else { return true }
    return try record.apart.keys.contains { note in
      try local(note).map { try AttachmentNames($0).keys.values.contains(key) } ?? false
    }
  }

  /// The attachments that the kept revisions of a document name, without some; at most ``AttachmentFacts/mostAtOnce``.
  func attachments(
    of id: DocumentID, except known: Set<AttachmentKey>
  ) throws -> [AttachmentFacts] {
    var found: [AttachmentFacts] = []
    // To subtract the set would take as long as it has elements, for each document.
    let missing = try AttachmentRecord(of: id, in: self).keys(from: local)
      .filter { !known.contains($0) }
    for key in missing.sorted() where found.count < AttachmentFacts.mostAtOnce {
      if let facts = try attachment(key) { found.append(facts) }
    }
    return found
  }

  /// What is known of some bytes; nil for those that the store does not have.
  package func attachment(_ key: AttachmentKey) throws -> AttachmentFacts? {
    try local(.attachment(key)).map { try AttachmentFacts($0, of: key) }
  }

  /// What is known of the bytes with a SHA-1; nil if the store has none.
  package func attachment(sha1: [UInt8]) throws -> AttachmentFacts? {
    guard let note = try local(.attachment(sha1: sha1)) else { return nil }
    return try attachment(AttachmentKey(stored: String(decoding: note.body, as: UTF8.self)))
  }

  /// All attachments with their bytes, to be copied to another store. Only for a store that has few.
  package func newAttachments() throws -> [NewAttachment] {
    guard try local(.attachmentTotal) != nil else { return [] }
    let all = try localValues(.below(LocalID.attachmentPrefix)) { id, note in
      try AttachmentFacts(note, of: AttachmentKey(stored: AnswerKeys.last(of: id)))
    }
    return try all.map { facts in
      let pieces = try pieces(0..<facts.length, of: facts)
      return NewAttachment(facts: facts.forAnotherStore, held: pieces)
    }
  }

  /// Some bytes of an attachment, from an offset to the end of a piece, or to the end of the range.
  /// - Parameter range: not empty, and within the attachment.
  /// - Throws: `integrity` when they are missing.
  package func bytes(_ range: Range<Int64>, of attachment: AttachmentFacts) throws -> [UInt8] {
    let size = Int64(AttachmentLimits.pieceBytes)
    let index = range.lowerBound / size
    guard let piece = try piece(Int(index), of: attachment) else {
      throw ServiceError(.integrity, "A piece of an attachment is missing")
    }
    let start = Int(range.lowerBound - index * size)
    let end = Int(min(range.upperBound - index * size, Int64(piece.body.count)))
    return start == 0 && end == piece.body.count ? piece.body : Array(piece.body[start..<end])
  }

  /// Some bytes of an attachment, in pieces.
  /// - Parameter limit: no further piece is read when there are this many bytes.
  /// - Throws: as ``bytes(_:of:)``.
  package func pieces(
    _ range: Range<Int64>, of attachment: AttachmentFacts, enough limit: Int64 = .max
  ) throws -> [[UInt8]] {
    var (pieces, start) = ([[UInt8]](), range.lowerBound)
    while start < range.upperBound, start - range.lowerBound < limit {
      let piece = try bytes(start..<range.upperBound, of: attachment)
      pieces.append(piece)
      start += Int64(piece.count)
    }
    return pieces
  }

  /// A piece of an attachment; nil for one that is missing or has another length.
  func piece(_ index: Int, of attachment: AttachmentFacts) throws -> LocalDocument? {
    let size = Int64(AttachmentLimits.pieceBytes)
    let length = min(size, attachment.length - Int64(index) * size)
    return try local(.piece(index, of: attachment.pieces)).flatMap { piece in
      piece.body.count == length ? piece : nil
    }
  }
}

/// A number of bytes that a store notes: what its attachments have, those that are arriving included, or what the members of
/// a list have in local documents.
struct ByteTotal {
  var bytes: Int64

  /// Reads a note.
  /// - Throws: `integrity`.
  init(_ note: LocalDocument?) throws {
    guard let note else {
      bytes = 0
      return
    }
    guard let count = (try? ParsedJSON(note.body, limits: .small).root)?["bytes"]?.int else {
      throw ServiceError(.integrity, "A noted size can't be read")
    }
    bytes = Int64(count)
  }

  /// The edit that stores it; none is stored for no bytes.
  func edit(of id: LocalID) -> LocalEdit {
    let body = JSONValue.object(["bytes": .number(JSONNumber(Int(clamping: bytes)))]).bytes
    return LocalEdit(id, bytes > 0 ? LocalDocument(revision: 1, body: body) : nil)
  }
}
