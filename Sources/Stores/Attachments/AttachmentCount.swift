import Documents
import Scheduling

/// Counts anew what names attachments, after a repair, and removes what updates have left of them.
///
/// When a document's ``AttachmentRecord`` is lost, its attachments would count one note too many for ever, and their bytes
/// for the owner of the store. So would those of the notes of its revisions, which nothing names any more.
extension DocumentStore {
  /// How often the counts are compared when others change them meanwhile.
  private static var attempts: Int { 4 }

  /// Mends the counts of attachments, and removes those that no note names, and notes that no record has.
  func recountAttachments() async throws {
    for _ in 0..<Self.attempts {
      try await removeAbandonedAttachments()
      var page = AttachmentCount()
      var isDone = true
      while true {
        page = try await read(inSlices: page) { page, view in
          try page.isComplete(in: view) ? page : nil
        }
        guard !page.isEmpty else { break }
        isDone = try await mend(page) && isDone
        page = page.next
      }
      if isDone { break }
    }
  }

  /// - Returns: false if others have written meanwhile.
  private func mend(_ page: AttachmentCount) async throws -> Bool {
    var wrong = page.attachments.filter { $0.value.noted != $0.value.found }.map(\.key)[...]
    var unowned = Array(page.unowned)[...]
    var isDone = true
    while isDone, !wrong.isEmpty || !unowned.isEmpty {
      let keys = wrong.prefix(AttachmentLimits.removedNames)
      // The removal of these notes changes counts, so they come last.
      let notes = keys.isEmpty ? unowned.prefix(AttachmentLimits.removedNames) : []
      isDone = try await update(as: .server) { changes in
        changes.freesSpace = true
        // Whatever names an attachment more takes a number. A note that is removed meanwhile takes none, nor do names that
        // have moved to notes that are to be removed.
        guard try changes.view.info().lastSequence == page.sequence,
          try changes.view.localIDs(.below(LocalID.forgottenNamesPrefix), atMost: 1, { $0 }).isEmpty
        else { return false }
        for note in notes where try changes.local(note) != nil { changes.forget(note) }
        return try keys.allSatisfy { key in
          guard let count = page.attachments[key],
            try changes.attachment(key)?.documents == count.noted
          else { return false }
          try changes.count(count.found - count.noted, of: key)
          return true
        }
      }
      (wrong, unowned) = (wrong.dropFirst(keys.count), unowned.dropFirst(notes.count))
      try await Slice.giveWay()
    }
    return isDone
  }
}

/// Some of a store's attachments, and how many notes name each; and some of the notes with names, without those that a
/// document's record has.
private struct AttachmentCount: Sendable {
  /// How many are counted in one walk through all notes.
  private static let atOnce = 2_048

  /// What is read at present.
  private enum Part { case attachments, notes, records, names, done }

  private var part = Part.attachments
  private var rest = DocumentRange.below(LocalID.attachmentPrefix)
  /// Where the next attachments and the next notes begin.
  private var ahead = DocumentRange.below(LocalID.attachmentPrefix)
  private var notesAhead = DocumentRange.below(LocalID.attachmentNamesPrefix)
  /// The number of the last change when the first was read.
  private(set) var sequence: Int64?
  private(set) var attachments: [AttachmentKey: (noted: Int, found: Int)] = [:]
  private(set) var unowned: Set<LocalID> = []

  /// Whether nothing was left to be read.
  var isEmpty: Bool { part == .done && sequence == nil }

  /// The page after this one.
  var next: AttachmentCount {
    var next = AttachmentCount()
    (next.ahead, next.rest, next.notesAhead) = (ahead, ahead, notesAhead)
    return next
  }

  /// Continues until the slice is over.
  mutating func isComplete(in view: any StoreView) throws -> Bool {
    while part != .done {
      guard try walk(view) else { return false }
      switch part {
      case .attachments: (ahead, rest, part) = (rest, notesAhead, .notes)
      case .notes:
        notesAhead = rest
        (rest, part) = (.below(LocalID.attachedPrefix), isNeeded ? .records : .done)
        sequence = isNeeded ? sequence : nil
      case .records: (rest, part) = (.below(LocalID.attachmentNamesPrefix), .names)
      case .names, .done: part = .done
      }
    }
    return true
  }

  private var isFull: Bool {
    switch part {
    case .attachments: attachments.count >= Self.atOnce
    case .notes: unowned.count >= Self.atOnce
    case .records, .names, .done: false
    }
  }

  private var isNeeded: Bool { !attachments.isEmpty || !unowned.isEmpty }

  /// Reads on until the part is read, or the slice is over.
  private mutating func walk(_ view: any StoreView) throws -> Bool {
    if sequence == nil { sequence = try view.info().lastSequence }
    var isWhole = true
    try view.locals(rest) { id, note in
      try take(id, note, view)
      rest = rest.behind(id.text)
      isWhole = !view.slice.isOver
      return isWhole && !isFull
    }
    return isWhole
  }

  private mutating func take(_ id: LocalID, _ note: LocalDocument, _ view: any StoreView) throws {
    switch part {
    case .attachments:
      let key = AttachmentKey(stored: AnswerKeys.last(of: id))
      attachments[key] = (noted: try AttachmentFacts(note, of: key).documents, found: 0)
    case .notes: if try view.local(id.forgottenNames) == nil { unowned.insert(id) }
    case .records:
      let record = try AttachmentRecord(note)
      find(record.keysHere)
      unowned.subtract(record.apart.keys)
    case .names: find(Set(try AttachmentNames(note).keys.values))
    case .done: break
    }
  }

  private mutating func find(_ keys: Set<AttachmentKey>) {
    for key in keys { attachments[key]?.found += 1 }
  }
}
