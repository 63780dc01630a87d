import Documents
import Stores

/// All that one store holds, as a value: a copy is a snapshot.
struct MemoryState: Sendable {
  /// One document.
  struct Record: Sendable {
    var tree: RevisionTree
    var bodies: [RevisionID: DocumentBody]
    /// When the revisions came that have a body.
    var arrivals: [RevisionID: Arrival]
    var sequence: Int64
    var created: Timestamp
    var updated: Timestamp
  }

  /// A local document with the moment that ends it.
  struct Local: Sendable {
    var document: LocalDocument
    var expires: Timestamp?
  }

  /// Drawn when the store was made.
  let epoch: String
  /// The documents.
  private(set) var records: [DocumentID: Record] = [:]
  /// Their ids in byte order.
  private(set) var order: [DocumentID] = []
  /// Every change in order; stale where the document has changed again.
  private(set) var log: [(sequence: Int64, id: DocumentID)] = []
  /// The local documents.
  private(set) var locals: [LocalID: Local] = [:]
  /// The indexes.
  private(set) var indexes: [IndexID: MemoryIndex] = [:]
  /// Counts.
  private(set) var info: StoreInfo

  /// A new store.
  init() {
    var generator = SystemRandomNumberGenerator()
    epoch = Hex.string(generator.next(), generator.next())
    info = StoreInfo(
      documentCount: 0, deletedCount: 0, lastSequence: 0, bodyBytes: 0, epoch: epoch)
  }

  /// Commits what a rule recorded.
  /// - Throws: `storage` when it breaks the port's rules; nothing has changed then.
  mutating func commit(_ changes: StoreChanges, at now: Timestamp) throws {
    guard !changes.changesTwice, changes.mutations.allSatisfy({ $0.tree.winner != nil })
    else { throw ServiceError(.storage, "An update changes a document twice") }
    let ancestors = changes.keepsHistory ? StoreLimits.storedAncestors : 0
    let arrival = Arrival(time: now, author: changes.author)
    for mutation in changes.mutations { apply(mutation, keeping: ancestors, arrival) }
    for purge in changes.purges { apply(purge, keeping: ancestors, at: now) }
    for id in changes.withoutHistory { dropHistory(of: id) }
    for (id, local) in locals where local.isExpired(at: now) { locals[id] = nil }
    for edit in changes.locals {
      locals[edit.id] = edit.document.map { Local(document: $0, expires: edit.expires) }
    }
    for edit in changes.indexes { apply(edit) }
  }

  private mutating func dropHistory(of id: DocumentID) {
    guard let old = records[id] else { return }
    count(old, by: -1)
    let kept = old.tree.revisions(withinSteps: 0)
    let record = Record(
      tree: old.tree, bodies: old.bodies.filter { kept.contains($0.key) },
      arrivals: old.arrivals.filter { kept.contains($0.key) },
      sequence: old.sequence, created: old.created, updated: old.updated)
    records[id] = record
    count(record, by: 1)
  }

  private mutating func apply(_ purge: Purge, keeping ancestors: Int, at now: Timestamp) {
    guard let old = records[purge.id] else { return }
    count(old, by: -1)
    info.lastSequence += 1
    log.append((info.lastSequence, purge.id))
    guard purge.tree.winner != nil else {
      records[purge.id] = nil
      order.remove(at: place(of: purge.id.text))
      for index in Array(indexes.keys) { indexes[index]?.places[purge.id] = nil }
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
        indexes[id]?.places[entry.id] = nil
      }
      indexes[id]?.sequence = nil
      if indexes[id]?.places.isEmpty ?? true { indexes[id] = nil }
    case .advance(let id, let documents, let entries, let sequence):
      var index = indexes[id] ?? MemoryIndex()
      index.sequence = sequence
      for document in documents { index.places[document] = nil }
      for entry in entries { index.places[entry.id] = entry }
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
      order.insert(mutation.id, at: place(of: mutation.id.text))
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
    // A tombstone keeps the time of the life that it ended; a document brought back begins anew.
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

  /// Where a text stands or would stand among the ids.
  func place(of text: String) -> Int {
    var (low, high) = (0, order.count)
    while low < high {
      let middle = (low + high) / 2
      if order[middle].text.precedesBytes(of: text) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

/// One index in memory.
struct MemoryIndex: Sendable {
  /// How far it has been built; nil while it is being removed.
  var sequence: Int64? = 0
  /// Each document's entry.
  var places: [DocumentID: IndexEntry] = [:]

  /// The entries in order.
  var entries: [IndexEntry] {
    places.values.sorted { left, right in
      left.key == right.key
        ? left.id.text.precedesBytes(of: right.id.text)
        : left.key.lexicographicallyPrecedes(right.key)
    }
  }
}

extension MemoryState.Record {
  /// Whether the winner is a tombstone.
  var isDeleted: Bool { tree.winner?.isDeleted ?? true }
  /// Bytes of all its bodies.
  var storedBytes: Int64 { bodies.values.reduce(0) { $0 + Int64($1.bytes.count) } }
  /// What the winner says.
  var winningBody: DocumentBody? { tree.winner.flatMap { bodies[$0.revision] } }
}

extension MemoryState.Local {
  /// Whether its time is over.
  func isExpired(at now: Timestamp) -> Bool { expires.map { $0 <= now } ?? false }
}
