import Documents
import Stores

/// The content of one store, as a value: a copy is a snapshot.
struct MemoryState: Sendable {
  /// One document.
  struct Record: Sendable {
    var tree: RevisionTree
    var bodies: [RevisionID: DocumentBody]
    /// When and from whom the revisions with a body came.
    var arrivals: [RevisionID: Arrival]
    var sequence: Int64
    var created: Timestamp
    var updated: Timestamp
  }

  /// A local document and its time of expiry.
  struct Local: Sendable {
    var document: LocalDocument
    var expires: Timestamp?
  }

  private(set) var records: [DocumentID: Record] = [:]
  /// The documents' ids in byte order.
  private(set) var order: [DocumentID] = []
  /// Every change in order. An entry is stale when its document has changed again.
  private(set) var log: [(sequence: Int64, id: DocumentID)] = []
  private(set) var locals: [LocalID: Local] = [:]
  private(set) var indexes: [IndexID: MemoryIndex] = [:]
  private(set) var info: StoreInfo

  init() {
    info = StoreInfo(
      documentCount: 0, deletedCount: 0, lastSequence: 0, bodyBytes: 0, epoch: Self.newEpoch())
  }

  private static func newEpoch() -> String {
    var generator = SystemRandomNumberGenerator()
    return Hex.string(generator.next(), generator.next())
  }

  /// Begins another epoch, as a database server does that takes over.
  mutating func beginEpoch() {
    info.formerEpochs.append(FormerEpoch(epoch: info.epoch, last: info.lastSequence))
    info.epoch = Self.newEpoch()
  }

  /// Commits what a rule recorded.
  /// - Throws: `storage` when the rule breaks the rules of ``StoreStorage``; nothing has changed then.
  mutating func commit(_ changes: StoreChanges, at now: Timestamp) throws {
    guard !changes.changesTwice, changes.mutations.allSatisfy({ $0.tree.winner != nil })
    else { throw ServiceError(.storage, "An update changes a document twice") }
    let ancestors = changes.keepsHistory ? StoreLimits.storedAncestors : 0
    let arrival = Arrival(time: now, author: changes.author)
    for mutation in changes.mutations { apply(mutation, keeping: ancestors, arrival) }
    for purge in changes.purges { apply(purge, keeping: ancestors, at: now) }
    for bodies in changes.forgotten { remove(bodies) }
    for (id, local) in locals where local.isExpired(at: now) { locals[id] = nil }
    for edit in changes.locals {
      locals[edit.id] = edit.document.map { Local(document: $0, expires: edit.expires) }
    }
    for edit in changes.indexes { apply(edit) }
  }

  private mutating func remove(_ forgotten: ForgottenBodies) {
    guard let old = records[forgotten.id] else { return }
    count(old, by: -1)
    let leaves = Set(old.tree.leaves.map(\.revision))
    let record = Record(
      tree: old.tree,
      bodies: old.bodies.filter { !forgotten.contains($0.key, leaves: leaves) },
      arrivals: old.arrivals.filter { !forgotten.contains($0.key, leaves: leaves) },
      sequence: old.sequence, created: old.created, updated: old.updated)
    records[forgotten.id] = record
    count(record, by: 1)
  }

  private mutating func apply(_ purge: Purge, keeping ancestors: Int, at now: Timestamp) {
    guard let old = records[purge.id] else { return }
    count(old, by: -1)
    info.lastSequence += 1
    log.append((info.lastSequence, purge.id))
    guard purge.tree.winner != nil else {
      records[purge.id] = nil
      order.remove(at: orderIndex(of: purge.id.text))
      for index in Array(indexes.keys) { indexes[index]?.entriesByID[purge.id] = nil }
      return
    }
    let kept = purge.tree.revisions(withinSteps: ancestors)
    let record = Record(
      tree: purge.tree, bodies: old.bodies.filter { kept.contains($0.key) },
      arrivals: old.arrivals.filter { kept.contains($0.key) },
      sequence: info.lastSequence, created: old.created, updated: now)
    records[purge.id] = record
    count(record, by: 1)
  }

  private mutating func apply(_ edit: IndexEdit) {
    switch edit {
    case .remove(let id, let entries):
      for entry in indexes[id]?.entries.prefix(entries) ?? [] {
        indexes[id]?.entriesByID[entry.id] = nil
      }
      indexes[id]?.sequence = nil
      if indexes[id]?.entriesByID.isEmpty ?? true { indexes[id] = nil }
    case .advance(let id, let documents, let entries, let sequence):
      var index = indexes[id] ?? MemoryIndex()
      index.sequence = sequence
      for document in documents { index.entriesByID[document] = nil }
      for entry in entries { index.entriesByID[entry.id] = entry }
      indexes[id] = index
    }
  }

  private mutating func apply(
    _ mutation: Mutation, keeping ancestors: Int, _ arrival: Arrival
  ) {
    let now = arrival.time
    guard let winner = mutation.tree.winner else { return }
    let old = records[mutation.id]
    if let old {
      count(old, by: -1)
    } else {
      order.insert(mutation.id, at: orderIndex(of: mutation.id.text))
    }
    info.lastSequence += 1
    let kept = mutation.tree.revisions(withinSteps: ancestors)
    var bodies = (old?.bodies ?? [:]).filter { kept.contains($0.key) }
    for added in mutation.further where kept.contains(added.revision) {
      bodies[added.revision] = added.body
    }
    if let body = mutation.body { bodies[mutation.revision] = body }
    for revision in mutation.closed { bodies[revision] = .empty }
    var arrivals = (old?.arrivals ?? [:]).filter { bodies[$0.key] != nil }
    let added = mutation.further.map(\.revision) + mutation.closed
    for revision in added + (mutation.body == nil ? [] : [mutation.revision])
    where bodies[revision] != nil { arrivals[revision] = arrival }
    // A tombstone keeps the creation time; a document that is restored after it gets a new one.
    let isReborn =
      mutation.isReborn || old.map { $0.isDeleted && !winner.isDeleted } ?? true
    let record = Record(
      tree: mutation.tree, bodies: bodies, arrivals: arrivals, sequence: info.lastSequence,
      created: mutation.created ?? (isReborn ? now : old?.created) ?? now,
      updated: mutation.updated ?? now)
    records[mutation.id] = record
    count(record, by: 1)
    log.append((record.sequence, mutation.id))
  }

  private mutating func count(_ record: Record, by sign: Int64) {
    if record.isDeleted { info.deletedCount += sign } else { info.documentCount += sign }
    let winner = Int64(record.winningBody?.bytes.count ?? 0)
    info.bodyBytes += sign * winner
    info.keptBytes += sign * (record.storedBytes - winner)
  }

  /// The index of an id in ``order``, or the index at which it would be inserted.
  func orderIndex(of text: String) -> Int {
    var (low, high) = (0, order.count)
    while low < high {
      let middle = (low + high) / 2
      if order[middle].text.precedesBytes(of: text) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

struct MemoryIndex: Sendable {
  /// The sequence number up to which the index is built; nil while the index is being removed.
  var sequence: Int64? = 0
  var entriesByID: [DocumentID: IndexEntry] = [:]

  /// The entries in order.
  var entries: [IndexEntry] {
    entriesByID.values.sorted { left, right in
      left.key == right.key
        ? left.id.text.precedesBytes(of: right.id.text)
        : left.key.lexicographicallyPrecedes(right.key)
    }
  }
}

extension MemoryState.Record {
  var isDeleted: Bool { tree.winner?.isDeleted ?? true }
  var storedBytes: Int64 { bodies.values.reduce(0) { $0 + Int64($1.bytes.count) } }
  var winningBody: DocumentBody? { tree.winner.flatMap { bodies[$0.revision] } }
}

extension MemoryState.Local {
  func isExpired(at now: Timestamp) -> Bool { expires.map { $0 <= now } ?? false }
}
