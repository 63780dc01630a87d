import Documents
import Stores

extension CouchDatabase {
  /// `GET` and `POST /{db}/_changes`: documents in the order of their last changes, each once, one page of
  /// them.
  ///
  /// An answer is all its pages: write ``ChangesPage/opening``, the rows, and while a page is not complete
  /// those of ``ChangesQuery/after(_:)``, then ``ChangesPage/closing``. A feed that waits asks again, after
  /// each of ``wakeUps()``, with ``ChangesQuery/later(than:)``.
  ///
  /// A document that changes between two pages can come twice, the second time at its new number.
  /// Source: CouchDB, "GET /{db}/_changes".
  package func changes(_ query: ChangesQuery) async throws(CouchError) -> ChangesPage {
    try await reading { view throws(StoreError) in
      var reader = try ChangesReader(view, query)
      return query.descending ? try reader.descending() : try reader.ascending()
    }
  }

  /// Wakes a feed after each commit; the first wake-up comes at once.
  package func wakeUps() -> AsyncStream<Void> { store.wakeUps() }
}
