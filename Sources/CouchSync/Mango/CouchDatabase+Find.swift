import Documents
import Stores

extension CouchDatabase {
  /// `POST /{db}/_find`: documents that a selector describes.
  ///
  /// They are read in pages, each from the store's state at that moment, and matched beside the store, where
  /// matching gives way within a document too, so that no query holds up anybody.
  /// Source: CouchDB, "POST /{db}/_find".
  /// - Throws: 400 `no_usable_index`, `invalid_index`, `invalid_bookmark`, `selector_too_costly`; 413 when
  ///   the answer would be longer than ``CouchLimits/answerBytes``; 503 when there is no memory for it; what is wrong with the store.
  package func find(_ request: FindRequest) async throws(CouchError) -> CouchAnswer {
    let clock = ContinuousClock()
    let begun = clock.now
    let request = try await request.prepared()
    let definitions = try await indexCatalogue().definitions
    let plan = try QueryPlanner(definitions, request).plan()
    var run = QueryRun(request, plan)
    var walk = QueryWalk(self, plan, after: request.bookmark?.place, extras: request.extras)
    if run.wantsMore { try await walk.begin(&run.budget) }
    while run.wantsMore {
      let page = try await walk.next(run.pageSize, &run.budget)
      guard !page.isEmpty else { break }
      try await run.take(page)
      guard holdsAnswer(run.byteCount) else { throw CouchError(Self.noMemory) }
    }
    return run.answer(examined: walk.examined, time: clock.now - begun)
  }

  /// `POST /{db}/_explain`: how a query would be served.
  ///
  /// Source: CouchDB, "POST /{db}/_explain".
  package func explain(_ request: FindRequest) async throws(CouchError) -> CouchAnswer {
    let definitions = try await indexCatalogue().definitions
    return CouchAnswer(QueryExplanation(QueryPlanner(definitions, request)).json(name).bytes)
  }
}
