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
  ///   document.
  package func changes(_ query: ChangesQuery) async throws(CouchError) -> ChangesPage {
    let tag = tag
    try query.since.check(isOf: tag)
    var matcher = ChangesMatcher(query)
    while true {
      let begun = matcher
      let (page, reached) = try await reading { view throws(StoreError) in
        var reader = try ChangesReader(view, query, of: tag, begun)
        let page = query.descending ? try reader.descending() : try reader.ascending()
        return (page, reader.matcher)
      }
      if let page { return page }
      guard !reached.isSpent else { throw SelectorBudget.spent }
      matcher = reached
      try await CouchError.givingWay()
    }
  }

  /// What names the database in ``SinceToken``.
  var tag: StoreTag { StoreTag(store.name) }

  /// Wakes a feed after each commit; the first wake-up comes at once.
  package func wakeUps() -> AsyncStream<Void> { store.wakeUps() }
}
