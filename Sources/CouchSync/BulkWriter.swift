import Documents
import Scheduling
package import Stores

/// Writes many documents, each independent of the others.
struct BulkWriter {
  /// The revision of a written document, or why it was refused.
  typealias Outcome = Result<String, ServiceError>

  /// One document of a request.
  struct Item: Sendable {
    let index: Int
    let write: DocumentWrite
  }

  private let database: CouchDatabase
  /// The outcome of each document, by its index in the request; nil where nothing was to be written.
  private(set) var outcomes: [Outcome?]

  /// Makes a writer to a database.
  /// - Parameter count: the number of elements of the request.
  init(_ database: CouchDatabase, count: Int) {
    self.database = database
    outcomes = Array(repeating: nil, count: count)
  }

  /// The error of a document that exceeded the quota; nil when none did.
  private(set) var refusal: ServiceError?

  /// Writes the replicated documents among the entries.
  /// - Parameter first: the index of the first entry in the request.
  /// - Throws: the store's errors; `ended`. What was committed before is kept.
  mutating func writeDocuments(of entries: [BulkEntry], from first: Int = 0) async throws {
    var items: [Item] = []
    for (index, entry) in entries.enumerated() {
      guard case .success(.document(let write)) = entry.write else { continue }
      items.append(Item(index: first + index, write: write))
    }
    try await write(items)
  }

  /// Writes documents, whose indices are those of the array.
  /// - Throws: the same errors.
  mutating func write(_ writes: [DocumentWrite]) async throws {
    let items = writes.enumerated().map { Item(index: $0.offset, write: $0.element) }
    for item in items {
      outcomes[item.index] = database.refusal(of: item.write.id).map { .failure($0) }
    }
    try await write(items)
  }

  /// Writes the local documents among the entries. Call it after all replicated documents of the request are written: a
  /// client may keep in a local document how far it has come.
  /// - Throws: the same errors.
  mutating func writeLocals(of entries: [BulkEntry], from first: Int = 0) async throws {
    for (index, entry) in entries.enumerated() {
      guard case .success(.local(let id, let write)) = entry.write else { continue }
      let (index, document) = (first + index, write.stored)
      do {
        try await database.store.update(as: database.context) { changes in
          changes.write(LocalEdit(id, document))
        }
        outcomes[index] = .success(LocalRevision.text(document?.revision ?? 0))
      } catch let error as ServiceError where error.code == .forbidden {
        outcomes[index] = .failure(error)
      } catch { try refuse(index, error) }
      try await Slice.giveWay()
    }
  }

  /// Records the outcome of a document that exceeds the quota.
  /// - Throws: any other error.
  private mutating func refuse(_ index: Int, _ error: any Error) throws {
    guard let error = error as? ServiceError, error.code == .quotaExceeded else { throw error }
    refusal = error
    outcomes[index] = .failure(error)
  }

  /// Writes items in few commits, apart from those that are refused already. Each commit decides documents for about
  /// ten milliseconds, so that other requests can use the store in between. All revisions of a document in one commit
  /// are one change.
  /// - Throws: the store's errors, not those of one document; `ended`. What was committed before is kept.
  private mutating func write(_ items: [Item]) async throws {
    let allowed = items.filter { outcomes[$0.index] == nil }
    for start in stride(from: 0, to: allowed.count, by: CouchLimits.commitDocuments) {
      try await commit(allowed[start..<min(start + CouchLimits.commitDocuments, allowed.count)])
    }
    await database.keep(
      items.compactMap { item in
        guard item.write.isReplicated, case .failure(let error)? = outcomes[item.index] else {
          return nil
        }
        return RefusedWrite(write: item.write, error: error)
      })
  }

  /// Commits items together. When they exceed the quota together, tries each half, so that every document that fits,
  /// and every deletion, is stored.
  private mutating func commit(_ items: ArraySlice<Item>) async throws {
    var rest = items
    while let first = rest.first {
      do {
        let decided = try await attempt(rest)
        for (item, outcome) in zip(rest, decided) { outcomes[item.index] = outcome }
        rest = rest.dropFirst(decided.count)
      } catch let error as ServiceError where error.code == .quotaExceeded {
        guard rest.count > 1 else { return try refuse(first.index, error) }
        let middle = rest.startIndex + rest.count / 2
        try await commit(rest[..<middle])
        try await commit(rest[middle...])
        return
      }
      try await Slice.giveWay()
    }
  }

  /// Commits the first items: as many as are decided in the time of one commit, at least one. Attachments are written after
  /// that, so they are counted.
  private func attempt(_ items: ArraySlice<Item>) async throws -> [Outcome] {
    let (store, rule, context) = (database.store, database.rule, database.context)
    let isReplicated = items.contains(where: \.write.isReplicated)
    return try await store.update(loading: Set(items.map(\.write.id)), as: context) {
      changes in
      let view = changes.view
      let marks = try PurgeMarks(view)
      let limit = try store.historyLimits(in: view)
      var edits: [DocumentEdits] = []
      var indices: [DocumentID: Int] = Dictionary(minimumCapacity: items.count)
      var outcomes: [Outcome] = []
      edits.reserveCapacity(items.count)
      outcomes.reserveCapacity(items.count)
      var contents = AttachedContents()
      let end = ContinuousClock.now + CouchLimits.commitTime
      for item in items {
        let id = item.write.id
        let index = indices[id] ?? edits.count
        if index == edits.count {
          edits.append(
            try DocumentEdits(
              of: id, in: view, marks, limit: limit, isReplicated: isReplicated))
          indices[id] = index
        }
        do {
          let write = try item.write.resolved(in: edits[index].tree, view)
          if let refusal = try rule.refusal(of: write, in: view) {
            outcomes.append(.failure(refusal))
            continue
          }
          let revision = try write.apply(to: &edits[index], in: view, marks, &contents)
          outcomes.append(.success(revision?.description ?? ""))
        } catch let error as DocumentError where error.code != .damaged {
          outcomes.append(.failure(ServiceError(error)))
        }
        if ContinuousClock.now >= end || contents.count >= CouchLimits.commitAttachments { break }
      }
      for index in edits.indices { changes.write(edits[index].finish()) }
      try contents.record(in: &changes)
      return outcomes
    }
  }
}

extension CouchDatabase {
  /// Writes documents, each independent of the others, in few commits.
  /// - Returns: the revision of each document, or why it was refused, in order.
  /// - Throws: the store's errors, not those of one document; `ended`. What was committed before is kept.
  package func write(_ writes: [DocumentWrite]) async throws -> [Result<String, ServiceError>] {
    var bulk = BulkWriter(self, count: writes.count)
    try await bulk.write(writes)
    return bulk.outcomes.map { $0 ?? .success("") }
  }

  /// `POST /{db}/_bulk_docs`: writes many documents, each independent of the others.
  ///
  /// They are committed in groups. A document's second revision in the same request is checked against the first;
  /// revisions in one commit are one change of the document.
  /// Source: CouchDB, "POST /{db}/_bulk_docs".
  /// - Returns: 201 with one element for each document, in order; for a peer's revisions only with the elements of
  ///   documents that can never be stored. 417 with one element for each document when `all_or_nothing` is requested.
  /// - Throws: 400 for a malformed document, before anything is written; the store's errors, not those of one document.
  ///   For a peer's revisions also 507 `quota_exceeded` when some exceed the quota: a replicator regards an error in an
  ///   element as final and would never send that document again.
  package func bulkDocuments(_ request: BulkRequest) async throws -> CouchAnswer {
    let entries = try await entries(request.elements, isNewEdit: request.isNewEdit)
    let heads = entries.map(\.head)
    guard !request.isAllOrNothing else { return notAtomic(heads) }
    var bulk = BulkWriter(self, count: entries.count)
    try await bulk.writeDocuments(of: entries)
    try await bulk.writeLocals(of: entries)
    return try answer(heads, bulk, isNewEdit: request.isNewEdit)
  }

  /// Reads the elements of a request.
  /// - Parameter keepingRefused: whether a peer's revisions that are refused are kept for the delivery ledger.
  /// - Throws: 400 for a malformed document.
  func entries(
    _ elements: [BulkRequest.Element], isNewEdit: Bool, keepingRefused: Bool = true
  ) async throws -> [BulkEntry] {
    var entries: [BulkEntry] = []
    entries.reserveCapacity(elements.count)
    let limits = documentLimits
    var refused: [RefusedWrite] = []
    for element in elements {
      let entry = try await BulkEntry(
        element, read: try await element.readLong(), isNewEdit: isNewEdit, limits: limits
      ).received(store.quota.attachmentBytes)
      let fault = isNewEdit ? try await DesignForm.fault(of: element, written: entry) : nil
      let checked = entry.checked { id in refusal(of: id) ?? fault }
      if !isNewEdit, keepingRefused, let write = entry.refused(as: checked) {
        refused.append(write)
      }
      entries.append(checked)
      try await Slice.giveWay()
    }
    await keep(refused)
    return entries
  }

  /// The answer when everything is written.
  /// - Throws: for a peer's revisions 507 `quota_exceeded` when some exceed the quota.
  func answer(
    _ heads: [BulkEntry.Head], _ bulk: BulkWriter, isNewEdit: Bool
  ) throws -> CouchAnswer {
    if !isNewEdit, let refusal = bulk.refusal { throw refusal }
    var writer = JSONWriter(reserving: heads.count * 96 + 2)
    writer.array(heads.enumerated()) { entry, writer in
      let (index, head) = entry
      let outcome = bulk.outcomes[index] ?? head.refusal.map { .failure($0) } ?? .success("")
      append(outcome, of: head, isNewEdit: isNewEdit, to: &writer)
    }
    var answer = CouchAnswer(.created, writer.bytes)
    answer.hasUnrunRules = !isNewEdit && heads.contains(where: \.hasRules)
    return answer
  }

  private func append(
    _ outcome: BulkWriter.Outcome, of entry: BulkEntry.Head, isNewEdit: Bool,
    to writer: inout JSONWriter
  ) {
    switch outcome {
    case .success(let revision):
      guard isNewEdit else { return }
      CouchAnswer.appendWritten(id: entry.id ?? "", revision: revision, to: &writer)
    case .failure(let error):
      writer.beginObject()
      if let id = entry.id { writer.member("id", id) }
      if !isNewEdit { writer.member("rev", entry.sentRevision) }
      (isNewEdit ? error : error.forReplication).appendMembers(to: &writer, word)
      writer.endObject()
    }
  }

  /// One element for each document with the error, as in CouchDB 2 and 3.
  func notAtomic(_ entries: [BulkEntry.Head]) -> CouchAnswer {
    let error = ServiceError(.notAtomic, "all_or_nothing is not supported")
    var writer = JSONWriter(reserving: entries.count * 96 + 2)
    writer.array(entries) { entry, writer in
      writer.object { writer in
        if let id = entry.id { writer.member("id", id) }
        writer.member("rev", entry.sentRevision)
        error.appendMembers(to: &writer, word)
      }
    }
    return CouchAnswer(.refused, writer.bytes)
  }
}
