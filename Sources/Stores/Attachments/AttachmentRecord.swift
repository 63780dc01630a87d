package import Documents

/// Which bytes the attachments of one document have: for each revision whose body names attachments and is kept, the key
/// of each attachment. A note, `{"<revision>":{"<name>":"<key>"}}`.
///
/// An edit reads and writes this note, so it stays short: the names of a revision that has more than a few are in a note of
/// their own (``AttachmentNames``), and the revision has `["<id>",<bytes>]` here. Revisions with the same names share it.
package struct AttachmentRecord: Equatable {
  static let isFull = DocumentError(
    .tooManyLeaves, "The document's revisions name too many attachments; resolve conflicts first")

  private enum Entry: Equatable {
    case here(AttachmentNames)
    case apart(LocalID, bytes: Int)
  }

  private var entries: [RevisionID: Entry] = [:]
  /// The bytes of the note when it was read; 0 for a new one.
  private var noteBytes = 0
  /// How many of them are names of more than ``AttachmentLimits/namesHere``, which a former version has written.
  private var longBytes = 0
  /// What was set since.
  private var added: [RevisionID: AttachmentNames] = [:]
  /// What was set and removed again, because a revision that is not kept came together with others.
  private(set) var dropped: (keys: Set<AttachmentKey>, notes: Set<LocalID>) = ([], [])
  /// The notes that were written since. One that the record had before was lost, and its names do not count.
  var written: Set<LocalID> = []

  init() {}

  /// Reads a note.
  /// - Throws: `integrity`.
  init(_ note: LocalDocument) throws {
    guard let root = try? ParsedJSON(note.body, limits: .stored).root else {
      throw ServiceError(.integrity, "The names of a document's attachments can't be read")
    }
    noteBytes = note.body.count
    for member in root.members {
      guard let revision = try? RevisionID(member.name) else {
        throw ServiceError(.integrity, "The names of a document's attachments have no revision")
      }
      if member.value.kind == .array {
        var elements = member.value.elements.makeIterator()
        guard let id = elements.next()?.string, let bytes = elements.next()?.int else {
          throw ServiceError(.integrity, "The names of a revision's attachments can't be found")
        }
        entries[revision] = .apart(.attachmentNames(id), bytes: max(0, bytes))
      } else {
        entries[revision] = .here(AttachmentNames(member.value))
        if !member.value.isShort(AttachmentLimits.namesHere) {
          longBytes += member.value.offsets.count
        }
      }
    }
  }

  /// The record of a document in one state of a store.
  /// - Throws: `integrity`.
  package init(of id: DocumentID, in view: any StoreView) throws {
    self = try view.local(.attached(id)).map { try AttachmentRecord($0) } ?? AttachmentRecord()
  }

  package static func == (one: AttachmentRecord, other: AttachmentRecord) -> Bool {
    one.entries == other.entries
  }

  /// The note; nil for a document without attachments.
  func note(after former: LocalDocument?) -> LocalDocument? {
    guard !entries.isEmpty else { return nil }
    return LocalDocument(
      revision: (former?.revision ?? 0) &+ 1,
      body: JSONWriter.object { writer in
        for (revision, entry) in entries.sorted(by: { $0.key < $1.key }) {
          switch entry {
          case .here(let names): writer.member(revision.description, raw: names.json)
          case .apart(let id, let bytes):
            let id = Array(id.text.utf8.dropFirst(LocalID.attachmentNamesPrefix.utf8.count))
            writer.member(
              revision.description,
              raw: Array("[\"".utf8) + id + Array("\",\(bytes)]".utf8))
          }
        }
      })
  }

  /// The bytes of the names of all revisions.
  /// - Parameter note: the bytes of the note; nil for those that it had when it was read.
  func bytes(note: Int? = nil) -> Int {
    entries.values.reduce(note ?? noteBytes) { sum, entry in
      if case .apart(_, let bytes) = entry { sum &+ bytes } else { sum }
    }
  }

  /// Checks that further names may be added.
  /// - Parameter added: their bytes.
  /// - Throws: ``DocumentError`` with code `tooManyLeaves`.
  func requireRoom(for added: Int) throws {
    guard bytes() + added <= AttachmentLimits.recordBytes,
      noteBytes - longBytes <= AttachmentLimits.noteBytes
    else { throw Self.isFull }
  }

  /// The revisions, newest first.
  var newestFirst: [RevisionID] { entries.keys.sorted(by: >) }
  var isEmpty: Bool { entries.isEmpty }

  /// The names of a revision's attachments; none for a revision that is not among these, and for names that were lost.
  /// - Parameter local: reads a note.
  /// - Throws: `integrity`.
  package func names(
    of revision: RevisionID, from local: (LocalID) throws -> LocalDocument?
  ) throws -> [AttachmentName: AttachmentKey] {
    switch entries[revision] {
    case .here(let names): names.keys
    case .apart(let id, _): try local(id).map { try AttachmentNames($0).keys } ?? [:]
    case nil: [:]
    }
  }

  /// The keys in this note.
  var keysHere: Set<AttachmentKey> {
    entries.values.reduce(into: []) { keys, entry in
      if case .here(let names) = entry { keys.formUnion(names.keys.values) }
    }
  }

  /// The notes that have the names of a revision, and the bytes of each.
  var apart: [LocalID: Int] {
    entries.values.reduce(into: [:]) { notes, entry in
      if case .apart(let id, let bytes) = entry { notes[id] = bytes }
    }
  }

  /// All keys.
  /// - Parameter local: reads a note.
  /// - Throws: `integrity`.
  func keys(from local: (LocalID) throws -> LocalDocument?) throws -> Set<AttachmentKey> {
    try apart.keys.reduce(into: keysHere) { keys, id in
      if let note = try local(id) { keys.formUnion(try AttachmentNames(note).keys.values) }
    }
  }

  /// Sets the names of a revision's attachments.
  /// - Returns: the note that the store has to have; nil for names that are in the record.
  mutating func set(_ names: AttachmentNames, of owner: AttachedRevision) -> LocalEdit? {
    guard !names.keys.isEmpty else {
      entries[owner.revision] = nil
      return nil
    }
    added[owner.revision] = names
    let json = names.json
    guard json.count > AttachmentLimits.namesHere else {
      entries[owner.revision] = .here(names)
      return nil
    }
    let id = LocalID.attachmentNames(AttachmentNames.id(of: json, of: owner.id))
    entries[owner.revision] = .apart(id, bytes: json.count)
    return LocalEdit(id, LocalDocument(revision: 1, body: json))
  }

  mutating func remove(where isGone: (RevisionID) -> Bool) {
    for revision in entries.keys where isGone(revision) {
      if let names = added[revision] {
        dropped.keys.formUnion(names.keys.values)
        if case .apart(let id, _) = entries[revision] { dropped.notes.insert(id) }
      }
      entries[revision] = nil
    }
  }
}
