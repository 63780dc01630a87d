package import Documents
package import Scheduling
package import Stores

/// One state of a store in memory.
package struct MemoryView: StoreView {
  package let slice: Slice
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

  package func allLocals(
    _ range: DocumentRange, _ visit: (LocalID, LocalDocument?) throws -> Bool
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
