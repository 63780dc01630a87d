import Documents
import Scheduling

/// Attachments that lack some of their bytes: a piece was damaged and a repair has removed it, or its row is gone.
///
/// The rest of the bytes is of no use. As long as notes say that the store has them all, each answer that contains them
/// fails, also one with many other documents, and nobody can send them again. So a repair forgets such attachments: their
/// documents keep the stubs, as documents that came without the bytes do.
extension DocumentStore {
  /// Forgets the attachments that are incomplete, and names of attachments of which nothing is known any more. Lets others be
  /// found by their SHA-1 again, and removes those that nothing names.
  /// - Returns: how many attachments were incomplete, or how many documents name unknown ones if these are more.
  func forgetIncompleteAttachments() async throws -> Int {
    // What can't be read after a repair is no reason for another one.
    var store = self
    store.repairsDamage = false
    let (incomplete, unnamed) = try await store.read(inSlices: AttachmentSearch()) { search, view in
      try search.isComplete(in: view) ? (search.found, search.unnamed) : nil
    }
    for facts in unnamed where incomplete[facts.key] == nil {
      try await store.update(as: .server) { changes in
        changes.freesSpace = true
        if try changes.attachment(facts.key) != nil { try changes.restoreSHA1(of: facts) }
      }
    }
    var (last, documents) = (String?.none, 0)
    while true {
      let (named, end) = try await store.read(inSlices: NameSearch(of: incomplete, after: last)) {
        search, view in try search.isComplete(in: view) ? (search.found, search.last) : nil
      }
      guard let named else { break }
      (last, documents) = (end, documents + 1)
      try await store.update(as: .server) { changes in
        changes.freesSpace = true
        try AttachmentLedger.change(named.id, in: &changes) { record, changes in
          let gone = try named.keys.filter { key in
            try changes.attachment(key).map { incomplete[key] == $0.pieces } ?? true
          }
          for revision in record.newestFirst {
            let known = try record.names(of: revision, from: changes.local)
            let kept = known.filter { !gone.contains($0.value) }
            guard kept.count < known.count else { continue }
            let owner = AttachedRevision(id: named.id, revision: revision)
            try record.set(AttachmentNames(kept), of: owner).map {
              try changes.writeOnce($0, of: &record)
            }
          }
        }
      }
    }
    for (key, pieces) in incomplete {
      // Their count of documents was too high.
      try await store.update(as: .server) { changes in
        changes.freesSpace = true
        guard let facts = try changes.attachment(key), facts.pieces == pieces else { return }
        try changes.remove(facts)
      }
    }
    try await store.recountAttachments()
    return max(incomplete.count, documents)
  }
}

/// Looks for attachments of which a piece is missing.
private struct AttachmentSearch: Sendable {
  private var rest = DocumentRange.below(LocalID.attachmentPrefix)
  private var current: AttachmentFacts?
  private var nextPiece = 0
  /// The names of the pieces of incomplete attachments. Bytes that come again have pieces of another name.
  private(set) var found: [AttachmentKey: String] = [:]
  /// The attachments that are not found by their SHA-1, by which devices ask for them.
  private(set) var unnamed: [AttachmentFacts] = []

  /// Continues until the slice is over.
  /// - Returns: whether everything was looked at.
  mutating func isComplete(in view: any StoreView) throws -> Bool {
    while let facts = try current ?? next(in: view) {
      current = facts
      if nextPiece == 0, try view.local(.attachment(sha1: facts.sha1)) == nil {
        unnamed.append(facts)
      }
      while nextPiece < facts.pieceCount {
        guard try view.piece(nextPiece, of: facts) != nil else {
          // Since the slice before the whole attachment may have been removed, with its last document.
          let isThere = try view.attachment(facts.key)?.pieces == facts.pieces
          if isThere { found[facts.key] = facts.pieces }
          break
        }
        nextPiece += 1
        if view.slice.isOver { return false }
      }
      (current, nextPiece) = (nil, 0)
    }
    return true
  }

  private mutating func next(in view: any StoreView) throws -> AttachmentFacts? {
    let next = try view.localValues(rest, atMost: 1) { id, note in
      (id: id, facts: try AttachmentFacts(note, of: AttachmentKey(stored: AnswerKeys.last(of: id))))
    }.first
    guard let next else { return nil }
    rest = rest.behind(next.id.text)
    return next.facts
  }
}

/// Looks for the next document whose record names attachments that are incomplete or unknown.
private struct NameSearch: Sendable {
  private var rest = DocumentRange.below(LocalID.attachedPrefix)
  private let incomplete: [AttachmentKey: String]
  /// The id of the last record that was looked at.
  private(set) var last: String?
  /// The document, and the keys of these attachments; nil at the end.
  private(set) var found: (id: DocumentID, keys: Set<AttachmentKey>)?

  init(of incomplete: [AttachmentKey: String], after last: String?) {
    self.incomplete = incomplete
    self.last = last
    if let last { rest = rest.behind(last) }
  }

  /// Continues until the slice is over.
  /// - Returns: whether a document was found, or everything was looked at.
  mutating func isComplete(in view: any StoreView) throws -> Bool {
    while true {
      let next = try view.localValues(rest, atMost: 1) { id, note in
        (id: id, record: try AttachmentRecord(note))
      }.first
      guard let next else { return true }
      last = next.id.text
      rest = rest.behind(next.id.text)
      let keys = try next.record.keys(from: view.local).filter { key in
        try incomplete[key] != nil || view.attachment(key) == nil
      }
      if !keys.isEmpty {
        let id = next.id.text.utf8.dropFirst(LocalID.attachedPrefix.utf8.count)
        found = (DocumentID(stored: String(decoding: id, as: UTF8.self)), keys)
        return true
      }
      if view.slice.isOver { return false }
    }
  }
}
