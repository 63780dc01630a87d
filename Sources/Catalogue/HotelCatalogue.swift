package import Documents
package import Hotels
import Lanes
import SQLite

/// The embedded upstream: full-text search over the hotels in `catalogue.sqlite` of the data directory.
///
/// The file is made of the hotels that the program carries, or by a ``CatalogueImport``, whose result
/// is found within a second, wherever it ran.
package final class HotelCatalogue: HotelSearching {
  /// How many searches read at the same time: with two a slow one, over a large catalogue, does not
  /// hold up all others. Who has used least of the processors' time is next.
  package static let searchesAtOnce = 2
  /// How many searches wait at most.
  package static let searchesWaiting = 1_024
  /// How many connections there are: one more for the gate's kept place, and one on which a hotel is looked up by its id
  /// whatever is searched.
  package static let readerCount = searchesAtOnce + 2

  private let lanes: LaneGroup
  private let readers: [CatalogueReader]
  private let semaphore = FairSemaphore(permits: searchesAtOnce, queueLimit: searchesWaiting)
  private let limit: Duration

  /// A catalogue in `directory`, which must exist before the first call. Opens nothing yet.
  /// - Parameter limit: how long one search may take.
  package init(
    directory: String,
    limit: Duration = .milliseconds(HotelQuery.maximumMilliseconds),
    now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
  ) {
    let files = CatalogueFiles(directory: directory)
    let lanes = LaneGroup(count: Self.readerCount, name: "catalogue")
    self.lanes = lanes
    self.limit = limit
    readers = (0..<Self.readerCount).map { number in
      CatalogueReader(files, on: lanes.lane(for: UInt64(number)), now: now)
    }
  }

  /// Opens the catalogue, and makes it of the embedded hotels if there is none, or if it was made of
  /// them and is damaged or of another edition. Call once, at the start.
  ///
  /// After an error the service may run on: searches fail until there is a catalogue, and find it then.
  /// - Parameter date: The time now, which a new catalogue remembers.
  /// - Throws: `damaged` for an imported catalogue that has to be imported again, or a file of something
  ///   else; `unavailable`, `storageFull`, `busy`.
  @discardableResult
  package func prepare(at date: Timestamp) async throws(CatalogueError) -> CatalogueOrigin {
    try await readers[0].prepare(at: date)
  }

  /// Opens the file that there is now, without waiting for the next look at it.
  /// - Throws: `unavailable`, `damaged`; searches then go on with the catalogue that was open.
  @discardableResult
  package func reload() async throws(CatalogueError) -> CatalogueOrigin {
    for reader in readers.dropFirst() { try await reader.reload() }
    return try await readers[0].reload()
  }

  package var orders: Set<HotelQuery.Order> { Set(HotelQuery.Order.allCases) }

  /// Finds hotels. A text without any letter or digit finds none, as does one of stop words only when
  /// matched as a phrase; no text at all finds every hotel.
  ///
  /// A search whose task is cancelled ends within milliseconds.
  /// - Throws: ``SearchError`` with code `unavailable` if there is no catalogue, or it is damaged, or too many wait;
  ///   `timeout` beyond the limit, or if the task is cancelled.
  package func search(_ query: HotelQuery) async throws(SearchError) -> HotelPage {
    let page = try await semaphore.withPermit { index throws(SearchError) in
      // Who waited may have gone.
      if Slice.isEnded { throw .interrupted }
      let (reader, limit) = (readers[index], limit)
      return try await SearchError.endingWithTask { flag throws(SearchError) in
        try await reader.search(query, within: limit, or: flag)
      }
    }
    guard let page else {
      throw SearchError(.unavailable, "Too many people search at the moment; try again.")
    }
    return page
  }

  /// The hotel with an id, in any of the spellings that stand for one; nil if there is none.
  package func hotel(_ id: HotelID) async throws(SearchError) -> Hotel? {
    try await lookup.hotel(Hotel.canonical(id.text))
  }

  /// Looks at the file, and reads a hotel from it.
  package func checkReady() async throws(SearchError) {
    try await lookup.checkReady()
  }

  /// Closes the file and ends the threads; a search that comes later opens it again.
  package func stop() async {
    for reader in readers { await reader.close() }
    await lanes.stop()
  }

  /// The connection that no search is on.
  private var lookup: CatalogueReader { readers[Self.searchesAtOnce + 1] }
}
