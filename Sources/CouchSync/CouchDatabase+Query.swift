package import CouchQuery
package import Documents
import Scheduling
import Stores

extension CouchDatabase {
  /// `POST /{db}/_find`: the documents that match a selector.
  ///
  /// The documents are read in pages, each from the snapshot of the store at that moment. They are matched without
  /// using the store, and matching gives way within a document too, so that no query blocks other requests.
  /// Source: CouchDB, "POST /{db}/_find".
  /// - Throws: 400 `no_usable_index`, `invalid_index`, `invalid_bookmark`, `selector_too_costly`; 413 when the answer
  ///   would be longer than ``CouchLimits/answerBytes``; 503 when there is no memory for it; the store's errors.
  package func find(_ request: FindRequest) async throws -> CouchAnswer {
    let clock = ContinuousClock()
    let begun = clock.now
    let request = try await request.prepared()
    let definitions = try await indexCatalogue().definitions
    let plan = try QueryPlanner(definitions, request).plan()
    var run = QueryRun(request, plan)
    var extras = DocumentExtras()
    extras.conflicts = request.showsConflicts
    var candidates = QueryCandidateReader(
      self, plan, after: request.bookmark?.position, extras: extras)
    if run.wantsMore { try await candidates.begin(&run.budget) }
    while run.wantsMore {
      let page = try await candidates.next(run.pageSize, &run.budget)
      guard !page.isEmpty else { break }
      try await run.take(page)
      guard reserveAnswer(run.byteCount) else { throw Self.noMemory }
    }
    return run.answer(examined: candidates.examined, time: clock.now - begun)
  }

  /// `POST /{db}/_explain`: how a query would be executed.
  ///
  /// Source: CouchDB, "POST /{db}/_explain".
  package func explain(_ request: FindRequest) async throws -> CouchAnswer {
    let definitions = try await indexCatalogue().definitions
    return CouchAnswer(try QueryExplanation(QueryPlanner(definitions, request)).json(name).bytes)
  }

  /// `GET /{db}/_index`: the index of all documents by id, then the defined indexes, by design document and name. The
  /// engine's own index of types does not exist in CouchDB and is not listed.
  ///
  /// Source: CouchDB, "GET /{db}/_index".
  /// - Parameter parameters: `limit` and `skip`.
  /// - Throws: 400 `query_parse_error`.
  package func queryIndexes(
    _ parameters: CouchParameters = CouchParameters()
  ) async throws -> CouchAnswer {
    let limit = try parameters.count("limit")
    let skip = try parameters.count("skip") ?? 0
    let definitions = try await indexCatalogue().definitions
    let all = [QueryIndex.documents] + definitions.map { .defined($0) }
    let answer: JSONValue = [
      "total_rows": .number(JSONNumber(all.count)),
      "indexes": .array(all.dropFirst(skip).prefix(limit ?? .max).map(\.json)),
    ]
    return CouchAnswer(answer.bytes)
  }

  /// `POST /{db}/_index`: defines an index in a design document, which is made or extended. The first query that uses
  /// the index builds it.
  ///
  /// Source: CouchDB, "POST /{db}/_index".
  /// - Throws: 400 `invalid_ddoc_lang`; 413 for more than ``QueryLimits/definitions`` indexes, or for more than
  ///   ``QueryLimits/designDocuments`` design documents.
  package func createIndex(_ request: IndexRequest) async throws -> CouchAnswer {
    let (definition, view) = (request.definition, request.definition.view(as: request.given))
    let catalogue = try await indexCatalogue()
    let isFull =
      catalogue.definitions.count >= QueryLimits.definitions && !catalogue.contains(definition)
    let isNew = try await changingDesign(definition.design) { design, store in
      guard design.set(definition.name, view) else { return false }
      guard !isFull else {
        throw ServiceError.tooLarge("A database has at most \(QueryLimits.definitions) indexes")
      }
      let isThere = try store.document(definition.design).map { !$0.isDeleted } ?? false
      var designs = RangeCount(IndexSources.range, limit: QueryLimits.designDocuments + 1)
      while try !designs.read(store) {}
      guard designs.count - (isThere ? 1 : 0) < QueryLimits.designDocuments else {
        let limit = QueryLimits.designDocuments
        throw ServiceError.tooLarge("A database with indexes has at most \(limit) design documents")
      }
      return true
    }
    let answer: JSONValue = [
      "result": isNew ? "created" : "exists",
      "id": .string(definition.design.text),
      "name": .string(definition.name),
    ]
    return CouchAnswer(answer.bytes)
  }

  /// `DELETE /{db}/_index/{ddoc}/json/{name}`: removes a definition from its design document, and deletes the document
  /// with its last definition. A later query removes the index's data.
  ///
  /// Source: CouchDB, "DELETE /{db}/_index/{design_doc}/json/{name}".
  /// - Parameter design: the id of the design document, with or without `_design/`.
  /// - Throws: 404 `not_found`.
  package func deleteIndex(design: String, type: String, name: String) async throws -> CouchAnswer {
    guard type.equalsBytes(of: "json") else { throw ServiceError.missing }
    try await removeIndexes(of: IndexRequest.designID(design)) { $0.name.equalsBytes(of: name) }
    return CouchAnswer(Array(#"{"ok":true}"#.utf8))
  }

  /// `POST /{db}/_index/_bulk_delete`: removes all definitions from several design documents.
  ///
  /// Source: CouchDB, "POST /{db}/_index/_bulk_delete".
  /// - Throws: 400 `invalid_bulk_docs`; 413 for more than ``QueryLimits/bulkDeletes`` documents; the store's errors,
  ///   not those of one document.
  package func deleteIndexes(_ body: JSONNode) async throws -> CouchAnswer {
    let node = try QueryOption.required("docids", in: body, allows: ["docids", "w"])
    _ = try QueryOption.count("w", in: body, default: 1, least: 1)
    guard node.count <= QueryLimits.bulkDeletes else {
      throw ServiceError.tooLarge(
        "A request names at most \(QueryLimits.bulkDeletes) design documents")
    }
    let names = node.elements.map(\.string)
    guard node.kind == .array, !names.contains(nil) else {
      throw ServiceError(
        .invalidBulkDocs,
        "Bulk Delete requires an array of non-null docids. Docids: \(QueryOption.shown(node))")
    }
    var success: [JSONValue] = []
    var fail: [JSONValue] = []
    for name in names.compactMap({ $0 }) {
      let id = "_design/" + UseIndex.name(of: name)
      do {
        try await removeIndexes(of: IndexRequest.designID(name)) { _ in true }
        success.append(["id": .string(id), "ok": true])
      } catch {
        guard let code = ServiceError(error)?.code, !code.isOfStorage,
          ![.moved, .outcomeUnknown, .ended, .quotaExceeded].contains(code)
        else { throw error }
        fail.append(["id": .string(id), "error": .string(word(code))])
      }
    }
    let answer: JSONValue = ["success": .array(success), "fail": .array(fail)]
    return CouchAnswer(answer.bytes)
  }

  private func removeIndexes(
    of id: DocumentID, where isMeant: (IndexDefinition) -> Bool
  ) async throws {
    let found = try await store.read { view in try view.document(id) }
    guard let found, !found.isDeleted else { throw ServiceError.missing }
    let names = IndexDefinition.all(in: id, found.body).filter(isMeant).map(\.name)
    // A design document of another language has no such indexes either.
    guard !names.isEmpty else { throw ServiceError.missing }
    _ = try await changingDesign(id) { design, view in
      guard try view.document(id)?.revision == found.revision else { throw DocumentError.conflict }
      design.remove(names)
      return true
    }
  }

  /// Changes a design document in one transaction; deletes it when it becomes empty.
  /// - Parameter change: changes the design document and returns whether there is a change to store.
  /// - Returns: the result of `change`.
  private func changingDesign(
    _ id: DocumentID,
    _ change: @escaping @Sendable (inout QueryDesign, any StoreView) throws -> Bool
  ) async throws -> Bool {
    try await updating([id]) { changes in
      let document = try changes.view.document(id)
      var design = try QueryDesign(document)
      guard try change(&design, changes.view) else { return false }
      let body = try design.isEmpty ? .empty : design.body()
      let base = document.flatMap { $0.isDeleted ? nil : $0.revision }
      try changes.put(id, base: base, body: body, isDeleted: design.isEmpty)
      return true
    }
  }

  /// The present index definitions. If the store has data of an index that is no longer defined, some of that data is
  /// removed. Later queries remove the rest, also when the disk is full now.
  func indexCatalogue() async throws -> IndexCatalogue {
    let sources = try await store.read(inSlices: IndexSources()) { sources, view in
      try sources.read(view) ? sources : nil
    }
    let catalogue = try await IndexCatalogue(sources)
    guard let stray = catalogue.stray else { return catalogue }
    _ = try? await store.update(as: context) { changes in
      // The definition may have been restored since.
      var present = IndexSources()
      while try !present.read(changes.view) {}
      guard present.isSame(as: sources) else { return }
      changes.write(.remove(stray, entries: QueryLimits.removedEntries))
    }
    return catalogue
  }
}

/// One step of bringing an index up to date: changes, with the present content of their documents. It is read in
/// slices. A document that changes between two slices occurs again with its new sequence.
private struct IndexStep: Sendable {
  /// The last sequence that the index contains; nil for an index that does not exist.
  private(set) var from: Int64?
  /// The last sequence of the store when the step began.
  private(set) var end: Int64 = 0
  /// The store's epoch, to which all sequences of the step belong.
  private(set) var epoch = ""
  /// The changed ids, in order, each with the sequence of its change and, when it is not deleted, its document.
  private(set) var changes: [(sequence: Int64, id: DocumentID, document: QueryCandidate?)] = []
  /// The last sequence that the changes include.
  private(set) var reached: Int64 = 0

  private var hasBegun = false
  private var page = QueryPage(count: QueryLimits.catchUpChanges, bytes: QueryLimits.catchUpBytes)

  /// Reads further changes, at least one, until the slice is over.
  /// - Returns: whether the step is complete.
  mutating func read(_ index: IndexID, _ view: any StoreView) throws -> Bool {
    if !hasBegun {
      from = try view.indexedSequence(index)
      let info = try view.info()
      (end, epoch) = (info.lastSequence, info.epoch)
      reached = from ?? 0
      hasBegun = true
    }
    let wanted = QueryLimits.catchUpChanges - changes.count
    let batch = try view.changes(after: reached, limit: min(wanted, QueryLimits.catchUpBatch))
    for change in batch {
      let known = page.candidates.count
      let document = change.isDeleted ? nil : try view.document(change.id)
      try page.add(IndexEntry(id: change.id, key: []), document, in: view)
      let candidate = page.candidates.count > known ? page.candidates.last : nil
      changes.append((change.sequence, change.id, candidate))
      reached = change.sequence
      if page.isFull { return true }
      if view.slice.isOver { return false }
    }
    guard batch.isEmpty else { return false }
    // Later sequences up to `end` belong to documents that were purged.
    reached = max(reached, end)
    return true
  }

  /// Whether the index contains everything up to a sequence.
  func isDone(_ target: Int64) -> Bool { from.map { $0 >= target } ?? false }

  /// The changes as an edit of the index, and the last sequence that it includes. Stops when the budget is spent.
  func edit(
    _ definition: IndexDefinition, _ budget: inout SelectorBudget
  ) async throws -> (edit: IndexEdit, reached: Int64) {
    var documents: [DocumentID] = []
    var entries: [IndexEntry] = []
    var sequence = from ?? 0
    for change in changes {
      if let document = change.document {
        try await Slice.giveWay()
        let parsed = try document.parsed()
        let entry: IndexEntry?
        do { entry = try await definition.entry(for: change.id, parsed, &budget) } catch {
          guard budget.isSpent else { throw error }
          break
        }
        if let entry { entries.append(entry) }
      }
      documents.append(change.id)
      sequence = change.sequence
    }
    if !budget.isSpent { sequence = reached }
    return (
      .advance(definition.id, documents: documents, entries: entries, sequence: sequence), sequence
    )
  }
}

extension CouchDatabase {
  /// Brings an index up to the present state of the store, in steps that are short enough not to block others. A step
  /// reads documents in slices, and then writes the index's entries unless another query has written them first.
  /// - Parameter budget: the cost that the index's filter may have. Entries that were written before it is spent are
  ///   kept.
  /// - Returns: false when the index can't be used: the store takes no writes now, or the index is being removed.
  /// - Throws: 400 `selector_too_costly` for a filter; the store's errors.
  func bringUpToDate(
    _ definition: IndexDefinition, _ budget: inout SelectorBudget
  ) async throws -> Bool {
    let id = definition.id
    var target: Int64?
    var known: Int64 = -1
    while true {
      let step = try await indexStep(id)
      // The end decreases when a server takes over that lacks the last changes.
      let goal = min(target ?? step.end, step.end)
      target = goal
      if step.isDone(goal) { return true }
      // When the sequence of an index decreases, it is being removed, because its definition is gone.
      guard step.from ?? -1 >= known else { return false }
      let (edit, reached) = try await step.edit(definition, &budget)
      let (from, epoch) = (step.from, step.epoch)
      do {
        let isFirst = try await store.update(as: context) { changes in
          // Otherwise the changes of the step may be lost, and the index would pass over others with their numbers.
          let isKnown = try changes.view.info().hasReached(reached) { $0.equalsBytes(of: epoch) }
          let isFirst = try isKnown && changes.view.indexedSequence(id) == from
          if isFirst { changes.write(edit) }
          return isFirst
        }
        known = isFirst ? reached : from ?? -1
      } catch {
        switch ServiceError(error)?.code {
        case .storageFull, .readOnly, .moved, .overloaded, .quotaExceeded: return false
        default: throw error
        }
      }
      if budget.isSpent { throw SelectorBudget.spent }
    }
  }

  /// The entries that an index would contain now, in its order, for a store that takes no writes. The entries have no
  /// covered content, because all of them are in memory.
  /// - Throws: 400 `selector_too_costly` for a filter; the store's errors.
  func entries(
    of definition: IndexDefinition, in range: IndexRange, _ budget: inout SelectorBudget
  ) async throws -> [IndexEntry] {
    let all = QueryPlan(index: .documents, part: .documents(DocumentRange()), isDescending: false)
    var candidates = QueryCandidateReader(self, all, after: nil)
    try await candidates.begin(&budget)
    var entries: [IndexEntry] = []
    while true {
      let page = try await candidates.next(QueryLimits.pageDocuments, &budget)
      guard !page.isEmpty else { break }
      for candidate in page {
        try await Slice.giveWay()
        let entry = try await definition.entry(
          for: candidate.position.id, try candidate.parsed(), &budget)
        if let entry, range.contains(entry.key) {
          entries.append(IndexEntry(id: entry.id, key: entry.key))
        }
      }
    }
    return try await entries.sortedInSlices { $0.precedes($1) }
  }

  private func indexStep(_ id: IndexID) async throws -> IndexStep {
    try await store.read(inSlices: IndexStep()) { step, view in
      try step.read(id, view) ? step : nil
    }
  }
}

extension IndexRange {
  fileprivate func contains(_ key: [UInt8]) -> Bool {
    !key.lexicographicallyPrecedes(start) && (end.map { key.lexicographicallyPrecedes($0) } ?? true)
  }
}
