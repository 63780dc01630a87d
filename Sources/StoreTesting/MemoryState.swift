import Documents
import Stores

/// All that one store holds, as a value: a copy is a snapshot.
struct MemoryState: Sendable {
  /// One document.
  struct Record: Sendable {
    var tree: RevisionTree
    var bodies: [RevisionID: DocumentBody]
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
  /// Counts.
  private(set) var info: StoreInfo

  /// A new store.
  init() {
    var generator = SystemRandomNumberGenerator()
    epoch = Hex.string(generator.next(), generator.next())
    info = StoreInfo(
      documentCount: 0, deletedCount: 0, lastSequence: 0, bodyBytes: 0, epoch: epoch)
  }

  /// Commits a decision.
  /// - Throws: `storage` when the decision breaks the port's rules; nothing has changed then.
  mutating func commit<Value>(
    _ decision: Decision<Value>, for ids: Set<DocumentID>, at now: Timestamp
  ) throws(StoreError) -> [Change] {
    guard Set(decision.mutations.map(\.id)).count == decision.mutations.count,
      decision.mutations.allSatisfy({ ids.contains($0.id) && $0.tree.winner != nil })
    else { throw StoreError(.storage, "A decision changes a document twice or unannounced") }
    var changes: [Change] = []
    for mutation in decision.mutations { changes += apply(mutation, at: now) }
    for (id, local) in locals where local.isExpired(at: now) { locals[id] = nil }
    for edit in decision.locals {
      locals[edit.id] = edit.document.map { Local(document: $0, expires: edit.expires) }
    }
    return changes
  }

  private mutating func apply(_ mutation: Mutation, at now: Timestamp) -> [Change] {
    guard let winner = mutation.tree.winner else { return [] }
    let old = records[mutation.id]
    if let old {
      count(old, by: -1)
    } else {
      order.insert(mutation.id, at: place(of: mutation.id.text))
    }
    info.lastSequence += 1
    let kept = mutation.tree.revisions(withinSteps: StoreLimits.storedAncestors)
    var bodies = (old?.bodies ?? [:]).filter { kept.contains($0.key) }
    bodies[mutation.revision] = mutation.body
    for revision in mutation.closed { bodies[revision] = .empty }
    // A tombstone keeps the time of the life that it ended; a document brought back begins anew.
    let isReborn = old.map { $0.isDeleted && !winner.isDeleted } ?? true
    let record = Record(
      tree: mutation.tree, bodies: bodies, sequence: info.lastSequence,
      created: mutation.created ?? (isReborn ? now : old?.created) ?? now, updated: now)
    records[mutation.id] = record
    count(record, by: 1)
    log.append((record.sequence, mutation.id))
    return [
      Change(
        sequence: record.sequence, id: mutation.id, revision: winner.revision,
        isDeleted: winner.isDeleted)
    ]
  }

  private mutating func count(_ record: Record, by sign: Int64) {
    if record.isDeleted { info.deletedCount += sign } else { info.documentCount += sign }
    info.bodyBytes += sign * Int64(record.winningBody?.bytes.count ?? 0)
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

extension MemoryState.Record {
  /// Whether the winner is a tombstone.
  var isDeleted: Bool { tree.winner?.isDeleted ?? true }
  /// What the winner says.
  var winningBody: DocumentBody? { tree.winner.flatMap { bodies[$0.revision] } }
}

extension MemoryState.Local {
  /// Whether its time is over.
  func isExpired(at now: Timestamp) -> Bool { expires.map { $0 <= now } ?? false }
}
