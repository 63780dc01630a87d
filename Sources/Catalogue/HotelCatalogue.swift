package import Documents
package import Hotels
import SQLite
import Scheduling

/// The embedded upstream: full-text search over the hotels in `catalogue.sqlite` of the data directory.
///
/// The file is made from the hotels that the program contains, or by a ``CatalogueImport``. Searches use an
/// imported file within a second, whichever process imported it.
package final class HotelCatalogue: HotelSearching {
  /// How many searches run at once. With two, a slow search over a large catalogue does not delay all others. The
  /// caller that has used the least processor time is next.
  package static let searchesAtOnce = 2
  /// The most searches that wait.
  package static let searchesWaiting = 1_024
  /// The number of connections: one for each search, one for the semaphore's reserved permit, and one that looks
  /// up hotels by id while the others search.
  package static let readerCount = searchesAtOnce + 2

  /// A search is one call of up to 200 ms. So its thread yields to threads with shorter calls, and to hashes of passwords.
  static let niceness: Int32 = 10

  private let threads = ThreadPool(name: "catalogue", threads: readerCount, niceness: niceness)
  let readers: [Confined<CatalogueReader>]
  private let semaphore = FairSemaphore(
    .searches, permits: searchesAtOnce, queueLimit: searchesWaiting)
  private let limit: Duration

  /// Makes a catalogue in `directory`, which must exist before the first call. It opens no file yet.
  /// - Parameter limit: the time limit of one search.
  package init(
    directory: String,
    limit: Duration = .milliseconds(HotelQuery.maximumMilliseconds),
    now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
  ) {
    let files = CatalogueFiles(directory: directory)
    let (threads, recent) = (threads, RecentSearches())
    self.limit = limit
    readers = (0..<Self.readerCount).map { _ in
      Confined(CatalogueReader(files, recent: recent, now: now), to: threads)
    }
  }

  /// Opens the catalogue. Creates it from the embedded hotels if there is none, or if it was made from them and is
  /// damaged or of another edition. Call once, at the start.
  ///
  /// The service may continue after an error. Searches fail until there is a catalogue, and then use it.
  /// - Parameter date: the current time, which is stored in a new catalogue.
  /// - Throws: `damaged` for an imported catalogue that must be imported again, and for a file of another kind;
  ///   `unavailable`, `storageFull`, `busy`.
  @discardableResult
  package func prepare(at date: Timestamp) async throws(CatalogueError) -> CatalogueOrigin {
    try await readers[0].run { reader throws(CatalogueError) in try reader.prepare(at: date) }
  }

  package var orders: Set<HotelQuery.Order> { Set(HotelQuery.Order.allCases) }

  /// Finds hotels. A text without any letter or digit matches none; in phrase matching, neither does a text of stop
  /// words only. A query without texts matches every hotel.
  ///
  /// A search whose task is cancelled ends within milliseconds.
  /// - Throws: ``SearchError`` with code `unavailable` if there is no catalogue, if it is damaged, or if too many
  ///   searches wait; `timeout` at the time limit, or if the task is cancelled.
  package func search(_ query: HotelQuery) async throws(SearchError) -> HotelPage {
    // Two switches between threads cost more than a known page.
    if let page = readers[0].runIfIdle({ reader in reader.knownPage(for: query) }) ?? nil {
      return page
    }
    let limit = limit
    return try await reading { reader, flag throws(SearchError) in
      try reader.search(query, within: limit, or: flag)
    }
  }

  /// The places of the hotels with a name that begins so, those with most hotels first. If there is none, those with a
  /// name that is almost so (`PlaceTable`). An empty beginning is that of all names.
  /// - Throws: as ``search(_:)``.
  package func places(
    beginning prefix: String, limit count: Int
  ) async throws(SearchError) -> PlacePage {
    let limit = limit
    return try await reading { reader, flag throws(SearchError) in
      try reader.places(beginning: prefix, limit: count, within: limit, or: flag)
    }
  }

  /// Waits for a reader, and reads until the task ends.
  private func reading<Answer: Sendable>(
    _ read:
      @escaping @Sendable (inout CatalogueReader, InterruptionFlag) throws(SearchError) ->
      Answer
  ) async throws(SearchError) -> Answer {
    // The first search waits for them, but they do not count for its time limit.
    await PlaceNames.make()
    let answer = try await semaphore.withPermit { index throws(SearchError) in
      // The caller may have left while it waited.
      if Slice.isEnded || Task.isCancelled { throw .interrupted }
      let reader = readers[index]
      return try await SearchError.endingWithTask { flag throws(SearchError) in
        try await reader.run { reader throws(SearchError) in try read(&reader, flag) }
      }
    }
    guard let answer else {
      throw SearchError(.unavailable, "Too many searches wait at the moment; try again.")
    }
    return answer
  }

  /// The hotel with an id, in any of its spellings; nil if there is none.
  package func hotel(_ id: HotelID) async throws(SearchError) -> Hotel? {
    try await lookup.run { reader throws(SearchError) in
      try reader.hotel(Hotel.canonical(id.text))
    }
  }

  /// Checks the file and reads a hotel from it.
  package func checkReady() async throws(SearchError) {
    let limit = limit
    try await lookup.run { reader throws(SearchError) in try reader.checkReady(within: limit) }
  }

  /// Closes the file and ends the threads. A later search opens the file again.
  package func stop() async {
    for reader in readers { await reader.run { $0.close() } }
    await threads.stop()
  }

  /// The connection that no search uses.
  private var lookup: Confined<CatalogueReader> { readers[Self.searchesAtOnce + 1] }
}
