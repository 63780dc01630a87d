package import CouchQuery
import Documents
package import JSON
import Lanes
import Stores

extension CouchDatabase {
  /// `POST /{db}/_find`: documents that a selector describes.
  ///
  /// They are read in pages, each from the store's state at that moment, and matched beside the store, where
  /// matching gives way within a document too, so that no query holds up anybody.
  /// Source: CouchDB, "POST /{db}/_find".
  /// - Throws: 400 `no_usable_index`, `invalid_index`, `invalid_bookmark`, `selector_too_costly`; 413 when
  ///   the answer would be longer than ``CouchLimits/answerBytes``; 503 when there is no memory for it; what is wrong with the store.
  package func find(_ request: FindRequest) async throws -> CouchAnswer {
    let clock = ContinuousClock()
    let begun = clock.now
    let request = try await request.prepared()
    let definitions = try await indexCatalogue().definitions
    let plan = try QueryPlanner(definitions, request).plan()
    var run = QueryRun(request, plan)
    var extras = DocumentExtras()
    extras.conflicts = request.showsConflicts
    var walk = QueryWalk(self, plan, after: request.bookmark?.place, extras: extras)
    if run.wantsMore { try await walk.begin(&run.budget) }
    while run.wantsMore {
      let page = try await walk.next(run.pageSize, &run.budget)
      guard !page.isEmpty else { break }
      try await run.take(page)
      guard holdsAnswer(run.byteCount) else { throw Self.noMemory }
    }
    return run.answer(examined: walk.examined, time: clock.now - begun)
  }

  /// `POST /{db}/_explain`: how a query would be served.
  ///
  /// Source: CouchDB, "POST /{db}/_explain".
  package func explain(_ request: FindRequest) async throws -> CouchAnswer {
    let definitions = try await indexCatalogue().definitions
    return CouchAnswer(QueryExplanation(QueryPlanner(definitions, request)).json(name).bytes)
  }
}

extension CouchDatabase {
  /// `GET /{db}/_index`: all documents by id, then the indexes that are defined, by design document and name. The
  /// engine's own index of types is no index of CouchDB's, and not listed.
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

  /// `POST /{db}/_index`: defines an index in a design document, which is made or extended. The index
  /// itself is built by the first query that uses it.
  ///
  /// Source: CouchDB, "POST /{db}/_index".
  /// - Throws: 400 `invalid_ddoc_lang`; 413 beyond ``QueryLimits/definitions``.
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
        throw ServiceError.tooLarge(
          "A database with indexes has at most \(limit) design documents")
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

  /// `DELETE /{db}/_index/{ddoc}/json/{name}`: takes a definition out of its design document, and deletes
  /// the document with the last one. The index's data goes with a later query.
  ///
  /// Source: CouchDB, "DELETE /{db}/_index/{design_doc}/json/{name}".
  /// - Parameter design: the design document, with `_design/` or without.
  /// - Throws: 404 `not_found`.
  package func deleteIndex(
    design: String, type: String, name: String
  ) async throws -> CouchAnswer {
    guard type.equalsBytes(of: "json") else { throw ServiceError.missing }
    try await removeIndexes(of: IndexRequest.designID(design)) { $0.name.equalsBytes(of: name) }
    let answer: JSONValue = ["ok": true]
    return CouchAnswer(answer.bytes)
  }

  /// `POST /{db}/_index/_bulk_delete`: takes all definitions out of several design documents.
  ///
  /// Source: CouchDB, "POST /{db}/_index/_bulk_delete".
  /// - Throws: 400 `invalid_bulk_docs`; 413 beyond ``QueryLimits/bulkDeletes``; what is wrong with the
  ///   store, not with a document.
  package func deleteIndexes(_ body: JSONNode) async throws -> CouchAnswer {
    try QueryOption.check(body, allows: ["docids", "w"])
    let node = try QueryOption.required("docids", in: body)
    _ = try QueryOption.count("w", in: body, default: 1, least: 1)
    let names = node.elements.map(\.string)
    guard node.kind == .array, !names.contains(nil) else {
      throw ServiceError(
        .invalidBulkDocs,
        "Bulk Delete requires an array of non-null docids. Docids: \(QueryOption.shown(node))")
    }
    guard names.count <= QueryLimits.bulkDeletes else {
      throw ServiceError.tooLarge(
        "A request names at most \(QueryLimits.bulkDeletes) design documents")
    }
    var success: [JSONValue] = []
    var fail: [JSONValue] = []
    for name in names.compactMap({ $0 }) {
      let id = "_design/" + UseIndex.name(of: name)
      do {
        try await removeIndexes(of: IndexRequest.designID(name)) { _ in true }
        success.append(["id": .string(id), "ok": true])
      } catch {
        guard let couch = ServiceError(error)?.couch, (400...499).contains(couch.status) else {
          throw error
        }
        fail.append(["id": .string(id), "error": .string(couch.error)])
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
    // Also a design document of another language: there is no such index.
    guard !names.isEmpty else { throw ServiceError.missing }
    _ = try await changingDesign(id) { design, view in
      guard try view.document(id)?.revision == found.revision else {
        throw DocumentError.conflict
      }
      design.remove(names)
      return true
    }
  }

  /// Changes a design document in one transaction; one that ends up empty is deleted.
  /// - Parameter change: answers whether there is anything to store.
  /// - Returns: what `change` answered.
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
}

extension CouchDatabase {
  /// The definitions that count now. Removes some of the data of one index that is defined no more, if
  /// there is any: the rest, and what a full disk refuses, is left to later queries.
  func indexCatalogue() async throws -> IndexCatalogue {
    let sources = try await store.read { view in try IndexSources(view) }
    let catalogue = try await IndexCatalogue(sources)
    guard let stray = catalogue.stray else { return catalogue }
    _ = try? await store.update { changes in
      // Its definition may have come back since.
      guard try IndexSources(changes.view).isSame(as: sources) else { return }
      changes.write(.remove(stray, entries: QueryLimits.removedEntries))
    }
    return catalogue
  }
}

/// One step of bringing an index up to date: changes, and the documents that they left behind. It is read in
/// slices; a document that changes between two of them comes again at its new number.
private struct IndexStep: Sendable {
  /// How far the index had come; nil for one that is not there.
  private(set) var from: Int64?
  /// The last change that the store knew of.
  private(set) var end: Int64 = 0
  /// Ids that changed, in order, each with its change's number and, where it is live, what it says.
  private(set) var changes: [(sequence: Int64, id: DocumentID, document: QueryCandidate?)] = []
  /// How far the changes reach.
  private(set) var reached: Int64 = 0

  private var hasBegun = false
  private var page = QueryPage(
    count: QueryLimits.catchUpChanges, bytes: QueryLimits.catchUpBytes, endsWithSlice: false)

  /// Reads on until the slice is over, by one change at least.
  /// - Returns: whether the step is whole.
  mutating func read(_ index: IndexID, _ view: any StoreView) throws -> Bool {
    if !hasBegun {
      from = try view.indexedSequence(index)
      end = try view.info().lastSequence
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
      if Slice.isOver { return false }
    }
    guard batch.isEmpty else { return false }
    // Numbers behind the last change are of documents that were purged.
    reached = max(reached, end)
    return true
  }

  /// Whether the index has seen everything up to a change.
  func isDone(_ target: Int64) -> Bool { from.map { $0 >= target } ?? false }

  /// What the index is to take in, and how far that brings it. Stops where the budget is spent.
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
  /// Brings an index up to the store's present state, in steps that hold up nobody for long: documents are
  /// read in one state, and what they say is written if nobody else has been faster.
  /// - Parameter budget: what the index's filter may cost; what was done before it is spent stays done.
  /// - Returns: false when the index can't be used: the store takes no writes now, or the index is being
  ///   removed.
  /// - Throws: 400 `selector_too_costly` for a filter; what is wrong with the store.
  func bringUpToDate(
    _ definition: IndexDefinition, _ budget: inout SelectorBudget
  ) async throws -> Bool {
    let id = definition.id
    var target: Int64?
    var known: Int64 = -1
    while true {
      let step = try await indexStep(id)
      let goal = target ?? step.end
      target = goal
      if step.isDone(goal) { return true }
      // An index that falls back is being removed, for its definition is gone.
      guard step.from ?? -1 >= known else { return false }
      let (edit, reached) = try await step.edit(definition, &budget)
      let from = step.from
      do {
        let isFirst = try await store.update { changes in
          let isFirst = try changes.view.indexedSequence(id) == from
          if isFirst { changes.write(edit) }
          return isFirst
        }
        known = isFirst ? reached : from ?? -1
      } catch {
        switch ServiceError(error)?.code {
        case .storageFull, .readOnly, .overloaded, .quotaExceeded: return false
        default: throw error
        }
      }
      if budget.isSpent { throw SelectorBudget.spent }
    }
  }

  /// What an index would hold now, in its order: for a store that takes no writes. Without what the entries would
  /// keep, for all of them are in memory.
  /// - Throws: 400 `selector_too_costly` for a filter; what is wrong with the store.
  func entries(
    of definition: IndexDefinition, in range: IndexRange, _ budget: inout SelectorBudget
  ) async throws -> [IndexEntry] {
    let all = QueryPlan(
      index: .documents, part: .documents(DocumentRange()), isDescending: false)
    var walk = QueryWalk(self, all, after: nil)
    try await walk.begin(&budget)
    var entries: [IndexEntry] = []
    while true {
      let page = try await walk.next(QueryLimits.pageDocuments, &budget)
      guard !page.isEmpty else { break }
      for candidate in page {
        try await Slice.giveWay()
        let entry = try await definition.entry(
          for: candidate.place.id, try candidate.parsed(), &budget)
        if let entry, range.contains(entry.key) {
          entries.append(IndexEntry(id: entry.id, key: entry.key))
        }
      }
    }
    return try await entries.sortedInSlices { $0.precedes($1) }
  }

  /// Reads the next step.
  private func indexStep(_ id: IndexID) async throws -> IndexStep {
    try await store.read(inSlices: IndexStep()) { step, view in
      try step.read(id, view) ? step : nil
    }
  }
}

extension IndexRange {
  /// Whether a key is one of the range's.
  fileprivate func contains(_ key: [UInt8]) -> Bool {
    !key.lexicographicallyPrecedes(start) && (end.map { key.lexicographicallyPrecedes($0) } ?? true)
  }
}
