import Documents

/// The rule that keeps the bytes of attachments as long as a kept body names them, each once.
///
/// Bodies name attachments by name; the document's ``AttachmentRecord`` says which bytes they have. The rule runs at the
/// end of each update, whoever recorded the bodies, so that a revision that the service makes keeps the attachments that
/// it takes over.
enum AttachmentLedger {
  /// Records in an update which bytes the recorded bodies name, stores new bytes, and removes those that no kept body
  /// names any more.
  /// - Throws: `integrity`.
  static func settle(_ changes: inout StoreChanges) throws {
    guard !changes.mutations.isEmpty || !changes.purges.isEmpty || !changes.forgotten.isEmpty,
      try !changes.attached.isEmpty || !changes.offered.isEmpty
        || changes.local(.attachmentTotal) != nil
    else { return }
    for mutation in changes.mutations { try settle(mutation, in: &changes) }
    for purge in changes.purges {
      let kept = purge.tree.revisions(withinSteps: steps(changes))
      try change(purge.id, in: &changes) { record, _ in record.remove { !kept.contains($0) } }
    }
    for bodies in changes.forgotten {
      guard let tree = try changes.tree(bodies.id) else { continue }
      let leaves = Set(tree.leaves.map(\.revision))
      try change(bodies.id, in: &changes) { record, _ in
        record.remove { bodies.contains($0, leaves: leaves) }
      }
    }
  }

  private static func steps(_ changes: StoreChanges) -> Int {
    changes.keepsHistory ? StoreLimits.storedAncestors : 0
  }

  private static func settle(_ mutation: Mutation, in changes: inout StoreChanges) throws {
    let steps = steps(changes)
    let added =
      mutation.further.map { ($0.revision, $0.body) }
      + [mutation.body.map { (mutation.revision, $0) }].compactMap(\.self)
    try change(mutation.id, in: &changes) { record, changes in
      for (revision, body) in added where DocumentBody.hasAttachments(body.bytes) {
        let owner = AttachedRevision(id: mutation.id, revision: revision)
        let names = try Self.names(of: body.attachments, of: owner, after: record, in: &changes)
        try record.set(names, of: owner).map { try changes.writeOnce($0, of: &record) }
      }
      guard !record.isEmpty else { return }
      // An engine keeps the body of any revision that may be near enough to a leaf.
      let old = steps == 0 ? Int.max : mutation.revision.generation - steps
      let kept = mutation.tree.revisions(withinSteps: steps)
      record.remove { revision in
        !kept.contains(revision)
          && (revision.generation < old || mutation.tree.index(of: revision) == nil)
      }
    }
  }

  /// The bytes that the attachments of an added revision have: those that came with it, or those that an earlier
  /// revision's attachment of the same name and digest has. An attachment has none if it came with a name only, for example
  /// from a damaged copy.
  private static func names(
    of stubs: [AttachmentStub], of owner: AttachedRevision, after record: AttachmentRecord,
    in changes: inout StoreChanges
  ) throws -> AttachmentNames {
    let given = changes.attached[owner] ?? [:]
    var keys: [AttachmentName: AttachmentKey] = [:]
    var missing: [AttachmentStub] = []
    for stub in stubs {
      guard let content = given[stub.name] else {
        missing.append(stub)
        continue
      }
      keys[stub.name] = try changes.keep(content)
    }
    guard !missing.isEmpty else { return AttachmentNames(keys) }
    for revision in record.newestFirst {
      let known = try record.names(of: revision, from: changes.local)
      missing = try missing.filter { stub in
        guard let key = known[stub.name],
          try changes.attachment(key)?.digest.equalsBytes(of: stub.digest) ?? false
        else { return true }
        keys[stub.name] = key
        return false
      }
      if missing.isEmpty { break }
    }
    for stub in missing {
      keys[stub.name] = try changes.offered
        .first { $0.facts.digest.equalsBytes(of: stub.digest) }.map { try changes.keep(.new($0)) }
    }
    return AttachmentNames(keys)
  }

  /// Changes the record of a document, and counts for all bytes how many notes name them. Reads and writes the names of
  /// the revisions that change only.
  /// - Throws: ``DocumentError`` with code `tooManyLeaves` for one that becomes too long; `integrity`.
  static func change(
    _ id: DocumentID, in changes: inout StoreChanges,
    _ edit: (inout AttachmentRecord, inout StoreChanges) throws -> Void
  ) throws {
    let note = try changes.local(.attached(id))
    let former = try note.map { try AttachmentRecord($0) } ?? AttachmentRecord()
    var record = former
    try edit(&record, &changes)
    guard record != former || !record.dropped.keys.isEmpty else { return }
    let next = record.note(after: note)
    let most = max(2 * AttachmentLimits.recordBytes, former.bytes())
    guard record.bytes(note: next?.body.count ?? 0) <= most else { throw AttachmentRecord.isFull }
    changes.write(LocalEdit(.attached(id), next))
    // Bytes that were stored for a dropped revision only have no note.
    var counts: [AttachmentKey: Int] = record.dropped.keys.reduce(into: [:]) { $0[$1] = 0 }
    func add(_ change: Int, _ keys: some Sequence<AttachmentKey>) {
      for key in keys { counts[key, default: 0] += change }
    }
    let (here, formerly) = (record.keysHere, former.keysHere)
    add(1, here.subtracting(formerly))
    add(-1, try changes.some(of: formerly.subtracting(here), of: id))
    let (old, new) = (former.apart.filter { !record.written.contains($0.key) }, record.apart)
    for note in new.keys where try old[note] == nil && !changes.recall(note) {
      add(1, try changes.attachmentNames(note))
    }
    for (note, bytes) in old where new[note] == nil {
      if changes.removes(names: bytes / AttachmentNames.keyBytes) {
        add(-1, try changes.attachmentNames(note))
        changes.write(LocalEdit(note, nil))
      } else {
        changes.forget(note)
      }
    }
    for note in record.dropped.notes where old[note] == nil && new[note] == nil {
      if try changes.local(note.forgottenNames) == nil { changes.write(LocalEdit(note, nil)) }
    }
    for (key, change) in counts where change != 0 || record.dropped.keys.contains(key) {
      try changes.count(change, of: key)
    }
  }
}

extension StoreChanges {
  /// What is known of some bytes, with what this update has recorded.
  func attachment(_ key: AttachmentKey) throws -> AttachmentFacts? {
    try local(.attachment(key)).map { try AttachmentFacts($0, of: key) }
  }

  /// The attachments that a note names; none if it was lost.
  func attachmentNames(_ id: LocalID) throws -> Set<AttachmentKey> {
    try local(id).map { Set(try AttachmentNames($0).keys.values) } ?? []
  }

  /// Records a note whose name says what is in it, unless the store has it.
  mutating func writeOnce(_ note: LocalEdit, of record: inout AttachmentRecord) throws {
    guard try local(note.id) == nil else { return }
    write(note)
    record.written.insert(note.id)
  }

  /// Stores the bytes of an attachment, unless the store has them.
  fileprivate mutating func keep(_ content: AttachmentContent) throws -> AttachmentKey {
    switch content {
    case .stored(let key):
      guard try attachment(key) != nil else {
        throw ServiceError(.unavailable, "An attachment was removed meanwhile; try again")
      }
      return key
    case .new(let new):
      var facts = new.facts
      if let known = try attachment(facts.key) {
        if try isComplete(known) {
          try abandon(facts.pieces)
          try restoreSHA1(of: known)
          return facts.key
        }
        // These bytes take the place of the incomplete ones, for all documents that name them.
        facts.documents = known.documents
        try remove(known)
      }
      if let held = new.held {
        write(held, of: facts.pieces, from: 0)
        try addBytes(facts.length)
      } else {
        guard try upload(facts.pieces)?.isAbandoned == false else { throw ServiceError.uploadGone }
        write(LocalEdit(.upload(facts.pieces), nil))
      }
      write(LocalEdit(.attachment(facts.key), facts.note))
      write(facts.editOfSHA1)
      return facts.key
    }
  }

  /// Lets bytes be found by their SHA-1 again: a repair has removed the note of it, which was damaged.
  mutating func restoreSHA1(of facts: AttachmentFacts) throws {
    guard try local(.attachment(sha1: facts.sha1)) == nil else { return }
    write(facts.editOfSHA1)
  }

  /// Whether no byte of an attachment was lost or damaged. Its pieces are read once an update: all documents of an adopted
  /// guest may name the same bytes.
  private mutating func isComplete(_ facts: AttachmentFacts) throws -> Bool {
    // What this update itself has recorded was not lost.
    guard !wholeAttachments.contains(facts.key),
      try view.attachment(facts.key)?.pieces == facts.pieces
    else { return true }
    var (count, bytes) = (0, Int64(0))
    try view.allLocals(.below(LocalID.pieces(of: facts.pieces))) { _, piece in
      guard let piece else { return false }
      count += 1
      bytes += Int64(piece.body.count)
      return true
    }
    guard count == facts.pieceCount, bytes == facts.length else { return false }
    wholeAttachments.insert(facts.key)
    return true
  }

  /// Counts notes more or less that name some bytes, and removes bytes that none names.
  mutating func count(_ change: Int, of key: AttachmentKey) throws {
    guard var facts = try attachment(key) else { return }
    facts.documents += change
    guard facts.documents <= 0 else {
      write(LocalEdit(.attachment(key), facts.note))
      return
    }
    try remove(facts)
  }

  /// Removes the bytes of an attachment, and what is known of them.
  mutating func remove(_ facts: AttachmentFacts) throws {
    write(LocalEdit(.attachment(facts.key), nil))
    // Other bytes may have the same SHA-1.
    if try local(.attachment(sha1: facts.sha1))?.body == Array(facts.key.text.utf8) {
      write(LocalEdit(.attachment(sha1: facts.sha1), nil))
    }
    try remove(pieces: facts.pieceCount, of: facts.pieces, bytes: facts.length)
  }

  mutating func write(_ pieces: [[UInt8]], of name: String, from first: Int) {
    for (index, piece) in pieces.enumerated() {
      write(LocalEdit(.piece(first + index, of: name), LocalDocument(revision: 1, body: piece)))
    }
  }

  /// Adds to a noted number of bytes.
  mutating func addBytes(_ bytes: Int64, to id: LocalID = .attachmentTotal) throws {
    var total = try ByteTotal(local(id))
    total.bytes = max(0, total.bytes + bytes)
    write(total.edit(of: id))
  }
}

extension ServiceError {
  static let uploadGone = ServiceError(
    .unavailable, "The attachment took too long to arrive; send it again")
}
