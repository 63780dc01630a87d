import Documents
import JSON
import Lanes
import Stores

/// Writes many documents, each on its own terms.
struct BulkWriter {
  /// One document's revision, or why it was refused.
  typealias Outcome = Result<String, ServiceError>

  /// One document of a request.
  struct Item: Sendable {
    /// Its place in the request.
    let index: Int
    /// What is to be written.
    let write: DocumentWrite
  }

  /// Where the documents go.
  let store: DocumentStore
  /// What their writer may not do.
  let rule: WriteRule
  /// What became of each, by its place in the request; nil for a place where nothing was to be written.
  private(set) var outcomes: [Outcome?]

  /// A writer into a store.
  /// - Parameter count: the places of the request.
  init(_ store: DocumentStore, rule: WriteRule, count: Int) {
    self.store = store
    self.rule = rule
    outcomes = Array(repeating: nil, count: count)
  }

  /// Why a document found no room, where one did.
  private(set) var refusal: ServiceError?

  /// Writes what is to be written of a request: its documents, then its local documents.
  /// - Throws: what is wrong with the store; `ended`, what was committed before stays.
  mutating func write(_ entries: [BulkEntry]) async throws {
    var items: [Item] = []
    var locals: [(index: Int, id: LocalID, document: LocalDocument?)] = []
    for (index, entry) in entries.enumerated() {
      switch entry.write {
      case .success(.document(let write)): items.append(Item(index: index, write: write))
      case .success(.local(let id, let write)): locals.append((index, id, write.stored))
      case .failure: break
      }
    }
    try await write(items)
    for (index, id, document) in locals {
      do {
        try await store.update { changes in
          changes.write(LocalEdit(id, document))
        }
        outcomes[index] = .success(LocalRevision.text(document?.revision ?? 0))
      } catch { try refuse(index, error) }
      try await Slice.giveWay()
    }
  }

  /// Takes the store's refusal of one document for an outcome.
  /// - Throws: any other error.
  private mutating func refuse(_ index: Int, _ error: any Error) throws {
    guard let error = error as? ServiceError, error.code == .quotaExceeded else { throw error }
    refusal = error
    outcomes[index] = .failure(error)
  }

  /// Writes items in few commits. Each takes documents for some ten milliseconds, so that others have their turn in
  /// between; all revisions of a document that are in one commit are one change.
  /// - Throws: what is wrong with the store, not with a document; `ended`, what was committed before stays.
  private mutating func write(_ items: [Item]) async throws {
    for start in stride(from: 0, to: items.count, by: CouchLimits.commitDocuments) {
      try await commit(items[start..<min(start + CouchLimits.commitDocuments, items.count)])
    }
  }

  /// Commits items together. Where together they exceed the quota, halves are tried, so that what fits,
  /// and every deletion, is stored.
  private mutating func commit(_ items: ArraySlice<Item>) async throws {
    var rest = items
    while let first = rest.first {
      do {
        let decided = try await attempt(rest)
        for (item, outcome) in zip(rest, decided) { outcomes[item.index] = outcome }
        rest = rest.dropFirst(decided.count)
      } catch let error as ServiceError where error.code == .quotaExceeded {
        guard rest.count > 1 else {
          return try refuse(first.index, error)
        }
        let middle = rest.startIndex + rest.count / 2
        try await commit(rest[..<middle])
        try await commit(rest[middle...])
        return
      }
      try await Slice.giveWay()
    }
  }

  /// Commits the first of some items: as many as are decided in the time of a commit, one at least.
  private func attempt(_ items: ArraySlice<Item>) async throws -> [Outcome] {
    let (store, rule, isReplicated) = (store, rule, items.contains(where: \.write.isReplicated))
    return try await store.update(loading: Set(items.map(\.write.id))) {
      changes in
      let view = changes.view
      let marks = try PurgeMarks(view)
      let limit = try store.historyLimits(in: view)
      var edits: [DocumentEdits] = []
      var places: [DocumentID: Int] = Dictionary(minimumCapacity: items.count)
      var outcomes: [Outcome] = []
      edits.reserveCapacity(items.count)
      outcomes.reserveCapacity(items.count)
      let end = ContinuousClock.now + CouchLimits.commitTime
      for item in items {
        let id = item.write.id
        let index = places[id] ?? edits.count
        if index == edits.count {
          edits.append(
            try DocumentEdits(
              of: id, in: view, marks, limit: limit, isReplicated: isReplicated))
          places[id] = index
        }
        do {
          if let refusal = try rule.refusal(of: item.write, in: view) {
            outcomes.append(.failure(refusal))
            continue
          }
          let revision = try item.write.apply(to: &edits[index], in: view, marks)
          outcomes.append(.success(revision?.description ?? ""))
        } catch let error as DocumentError where error.code != .damaged {
          outcomes.append(.failure(ServiceError(error)))
        }
        if ContinuousClock.now >= end { break }
      }
      for index in edits.indices { changes.write(edits[index].finish()) }
      return outcomes
    }
  }
}

extension CouchDatabase {
  /// `POST /{db}/_bulk_docs`: writes many documents, each independent of the others.
  ///
  /// They are committed some at a time. A document's second revision in the same request sees the first; those that
  /// are committed together are one change of the document.
  /// Source: CouchDB, "POST /{db}/_bulk_docs".
  /// - Returns: 201 with one element a document, in order; for a peer's revisions with those only that can never be
  ///   stored. 417 with one element a document where all or nothing is asked for.
  /// - Throws: 400 for a malformed document, before anything is written; what is wrong with the store, not with a
  ///   document. Of a peer's revisions 507 `quota_exceeded` when some found no room: a replicator takes what is
  ///   refused in an element for settled and never sends it again.
  package func bulkDocuments(_ request: BulkRequest) async throws -> CouchAnswer {
    var entries: [BulkEntry] = []
    entries.reserveCapacity(request.elements.count)
    let limits = documentLimits
    for element in request.elements {
      let entry = try BulkEntry(
        element, isNewEdit: request.isNewEdit, limits: limits, newID: newID)
      entries.append(entry.checked(by: refusal(of:)))
      try await Slice.giveWay()
    }
    guard !request.isAllOrNothing else { return Self.notAtomic(entries) }
    var bulk = BulkWriter(store, rule: rule, count: entries.count)
    try await bulk.write(entries)
    if !request.isNewEdit, let refusal = bulk.refusal { throw refusal }
    var writer = JSONWriter(reserving: entries.count * 96 + 2)
    writer.beginArray()
    for (index, entry) in entries.enumerated() {
      let outcome = bulk.outcomes[index] ?? entry.write.map { _ in "" }
      Self.append(outcome, of: entry, isNewEdit: request.isNewEdit, to: &writer)
    }
    writer.endArray()
    var answer = CouchAnswer(201, writer.bytes)
    answer.hasUnrunRules = !request.isNewEdit && entries.contains(where: \.hasRules)
    return answer
  }

  private static func append(
    _ outcome: BulkWriter.Outcome, of entry: BulkEntry, isNewEdit: Bool, to writer: inout JSONWriter
  ) {
    switch outcome {
    case .success(let revision):
      guard isNewEdit else { return }
      CouchAnswer.appendWritten(id: entry.id ?? "", revision: revision, to: &writer)
    case .failure(let error):
      writer.beginObject()
      if let id = entry.id { writer.member("id", id) }
      if !isNewEdit { writer.member("rev", entry.sentRevision) }
      (isNewEdit ? error : error.forReplication).appendMembers(to: &writer)
      writer.endObject()
    }
  }

  /// Each document with the reason, as CouchDB 2 and 3 answer.
  private static func notAtomic(_ entries: [BulkEntry]) -> CouchAnswer {
    let error = ServiceError(.notAtomic, "all_or_nothing is not supported")
    var writer = JSONWriter(reserving: entries.count * 96 + 2)
    writer.beginArray()
    for entry in entries {
      writer.beginObject()
      if let id = entry.id { writer.member("id", id) }
      writer.member("rev", entry.sentRevision)
      error.appendMembers(to: &writer)
      writer.endObject()
    }
    writer.endArray()
    return CouchAnswer(error.couch.status, writer.bytes)
  }
}
