package import Documents
package import Stores

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

/// One state of a store in memory.
package struct MemoryView: StoreView {
  let state: MemoryState
  /// The time at which local documents are tested for expiry; nil for a reader, which also sees expired ones
  /// that are not removed yet.
  let now: Timestamp?
  /// Counts the reads; nil when the counts are not needed.
  var reads: ReadCounter?

  package func document(_ id: DocumentID) throws -> Document? {
    reads?.count(\.documents)
    guard let record = state.records[id], let winner = record.tree.winner else { return nil }
    return Document(
      id: id, revision: winner.revision, isDeleted: winner.isDeleted, sequence: record.sequence,
      created: record.created, updated: record.updated, body: record.winningBody?.bytes ?? [])
  }

  package func tree(_ id: DocumentID) throws -> RevisionTree? {
    reads?.count(\.trees)
    return state.records[id]?.tree
  }

  package func body(_ id: DocumentID, _ revision: RevisionID) throws -> [UInt8]? {
    guard let record = state.records[id] else { return nil }
    if let body = record.bodies[revision] { return body.bytes }
    guard record.tree[revision]?.isLeaf != true else {
      throw ServiceError(.integrity, "The body of a leaf is missing")
    }
    return nil
  }

  package func kept(_ id: DocumentID, _ revision: RevisionID) throws -> KeptRevision? {
    guard let record = state.records[id], try body(id, revision) != nil else { return nil }
    return KeptRevision(arrival: record.arrivals[revision])
  }

  package func documents(
    _ range: DocumentRange, _ visit: (Document) throws -> Bool
  ) throws {
    let ids = state.order[orderIndices(of: range)]
    for id in range.descending ? Array(ids.reversed()) : Array(ids) {
      guard let document = try document(id), range.includesDeleted || !document.isDeleted else {
        continue
      }
      guard try visit(document) else { return }
    }
  }

  /// The indices of a range's ids in the state's ``MemoryState/order``, tombstones included.
  private func orderIndices(of range: DocumentRange) -> Range<Int> {
    let first = range.start.map { state.orderIndex(of: $0) } ?? 0
    var last = state.order.count
    if let end = range.end {
      last = state.orderIndex(of: end)
      if range.includesEnd, last < state.order.count, state.order[last].text.equalsBytes(of: end) {
        last += 1
      }
    }
    return first..<max(first, last)
  }

  package func changes(after sequence: Int64, limit: Int) throws -> [Change] {
    var changes: [Change] = []
    for entry in state.log[firstEntry(after: sequence)...] where changes.count < limit {
      guard let record = state.records[entry.id], record.sequence == entry.sequence,
        let winner = record.tree.winner
      else { continue }
      changes.append(
        Change(
          sequence: entry.sequence, id: entry.id, revision: winner.revision,
          isDeleted: winner.isDeleted))
    }
    return changes
  }

  package func changes(
    ofType type: String, after sequence: Int64, limit: Int
  ) throws -> [Change] {
    let all = try changes(after: sequence, limit: .max).filter { change in
      !change.isDeleted
        && state.records[change.id]?.winningBody?.type?.equalsBytes(of: type) ?? false
    }
    return Array(all.prefix(limit))
  }

  package func changes(upTo sequence: Int64, limit: Int) throws -> [Change] {
    let all = try changes(after: 0, limit: .max).filter { $0.sequence <= sequence }
    return Array(all.reversed().prefix(max(0, limit)))
  }

  package func changeCount(after sequence: Int64) throws -> Int64 {
    Int64(try changes(after: sequence, limit: .max).count)
  }

  package func count(
    _ range: DocumentRange, among ids: Int
  ) throws -> (count: Int, last: DocumentID?) {
    let indices = orderIndices(of: range)
    let all = state.order[indices]
    let first = range.descending ? all.suffix(ids) : all.prefix(ids)
    let count = first.count { range.includesDeleted || state.records[$0]?.isDeleted == false }
    guard first.count == ids else { return (count, nil) }
    return (count, range.descending ? first.first : first.last)
  }

  package func locals(
    _ range: DocumentRange, _ visit: (LocalID, LocalDocument) throws -> Bool
  ) throws {
    let ids = state.locals.keys.filter { range.contains($0.text) }
      .sorted { $0.text.precedesBytes(of: $1.text) }
    for id in range.descending ? ids.reversed() : ids {
      guard let document = try local(id) else { continue }
      guard try visit(id, document) else { return }
    }
  }

  package func localUsage(
    of prefix: String
  ) throws -> (count: Int64, bytes: Int64) {
    var usage: (count: Int64, bytes: Int64) = (0, 0)
    for (id, local) in state.locals where id.text.utf8.starts(with: prefix.utf8) {
      if let now, local.isExpired(at: now) { continue }
      usage.count += 1
      usage.bytes += Int64(local.document.body.count)
    }
    return usage
  }

  package func expiredLocals(
    at moment: Timestamp, limit: Int
  ) throws -> [LocalID] {
    Array(state.locals.filter { $0.value.isExpired(at: moment) }.keys.prefix(max(0, limit)))
  }

  package func indexedSequence(_ index: IndexID) throws -> Int64? {
    state.indexes[index]?.sequence
  }

  package func indexes() throws -> [IndexID] {
    state.indexes.keys.sorted { $0.text.precedesBytes(of: $1.text) }
  }

  package func entries(
    _ index: IndexID, _ range: IndexRange, _ visit: (IndexEntry) throws -> Bool
  ) throws {
    let entries = (state.indexes[index]?.entries ?? []).filter { entry in
      let isLeftOut =
        !range.descending && entry.key == range.start && !range.id.precedesBytes(of: entry.id.text)
      let isAdded =
        range.descending && entry.key == range.end && entry.id.text.precedesBytes(of: range.id)
      guard !isLeftOut, !entry.key.lexicographicallyPrecedes(range.start) else { return false }
      return isAdded || range.end.map { entry.key.lexicographicallyPrecedes($0) } ?? true
    }
    for entry in range.descending ? entries.reversed() : entries {
      let wanted = range.wantsContent ? entry : IndexEntry(id: entry.id, key: entry.key)
      guard try visit(wanted) else { return }
    }
  }

  package func local(_ id: LocalID) throws -> LocalDocument? {
    guard let local = state.locals[id] else { return nil }
    if let now, local.isExpired(at: now) { return nil }
    return local.document
  }

  package func fileBytes() throws -> Int64 { 0 }

  /// Counts only bodies.
  package func holds(moreThan bytes: Int64) throws -> Bool {
    state.info.storedBytes > bytes
  }

  package func storedBytes(of id: DocumentID) throws -> Int64 {
    state.records[id]?.storedBytes ?? 0
  }

  package func info() throws -> StoreInfo { state.info }

  /// Sequence numbers start at 1 without gaps, so a number is the index of the next entry.
  private func firstEntry(after sequence: Int64) -> Int {
    Int(clamping: min(max(sequence, 0), Int64(clamping: state.log.count)))
  }
}
