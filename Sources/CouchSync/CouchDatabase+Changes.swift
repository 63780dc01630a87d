import Documents
import Stores

extension CouchDatabase {
  /// `GET` and `POST /{db}/_changes`: documents in the order of their last changes, each once, one page of
  /// them.
  ///
  /// An answer is all its pages: write ``ChangesPage/opening``, the rows, and while a page is not complete
  /// those of ``ChangesQuery/after(_:)``, then ``ChangesPage/closing``. A feed that waits asks again, after
  /// each commit, with ``ChangesQuery/later(than:)``.
  ///
  /// A document that changes between two pages can come twice, the second time at its new number.
  /// Source: CouchDB, "GET /{db}/_changes".
  /// - Throws: 400 for the token of another database, and for a selector that takes too long on one
  ///   document; for a filter of a design document 404 where there is none, and 501.
  package func changes(_ query: ChangesQuery) async throws(CouchError) -> ChangesPage {
    let tag = tag
    try query.since.check(isOf: tag)
    if case .function(let function) = query.filter { try await run(function) }
    let outcome = try await reading(inSlices: ChangesReader(query, of: tag)) {
      reader, view throws(StoreError) in try reader.read(view)
    }
    switch outcome {
    case .page(let page): return page
    case .spent: throw SelectorBudget.spent
    }
  }

  /// What names the database in ``SinceToken``.
  var tag: StoreTag { StoreTag(store.name) }

  /// Wakes a feed after each commit; the first wake-up comes at once.
  package func wakeUps() -> AsyncStream<Void> { store.wakeUps() }
}
