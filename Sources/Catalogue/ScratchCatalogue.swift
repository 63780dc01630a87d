import Documents
package import Hotels
import SQLite
import Scheduling

/// Searches a person's own hotels by the rules of the catalogue. It builds an index in memory for one search and
/// discards it afterwards. The cost grows with the number of hotels, so it is only used when no upstream answers.
package struct ScratchCatalogue: MirrorSearching {
  /// How many searches run at once. Each keeps a thread busy while it builds its index.
  package static let workerCount = 2

  private let threads = ThreadPool(
    name: "mirror", threads: workerCount, niceness: HotelCatalogue.niceness)

  package let limit: Duration

  /// Makes a catalogue with threads of its own, which start with the first searches.
  /// - Parameter limit: the time limit of one search, including building its index.
  package init(limit: Duration = .milliseconds(HotelQuery.maximumMilliseconds)) {
    self.limit = limit
  }

  package func search(
    _ query: HotelQuery, among hotels: [Hotel]
  ) async throws(SearchError) -> HotelPage {
    await PlaceNames.make()
    return try await SearchError.endingWithTask { flag throws(SearchError) in
      try await threads.run { () throws(SearchError) in
        try Self.search(query, among: hotels, within: limit, or: flag)
      }
    }
  }

  /// Ends the threads.
  package func stop() async { await threads.stop() }

  private static func search(
    _ query: HotelQuery, among hotels: [Hotel], within limit: Duration, or flag: InterruptionFlag
  ) throws(SearchError) -> HotelPage {
    let found: CatalogueSearch.Found
    let end = ContinuousClock.now + limit
    do {
      let connection = try Connection.inMemory()
      found = try connection.bounded(until: end, or: flag) {
        let writer = try CatalogueWriter(in: connection)
        for hotel in hotels {
          // Most of the time is spent on parsing hotels, which SQLite's time limit does not interrupt.
          guard !flag.isRaised, ContinuousClock.now < end else {
            throw SQLiteError(.interrupted, message: "too many hotels")
          }
          guard let parsed = try? ParsedJSON(hotel.body.bytes, limits: .document) else { continue }
          _ = try writer.put(hotel, HotelText(parsed.root))
        }
        let search = CatalogueSearch(try writer.finishScratch(), query)
        return try search.find(amongAll: hotels.count)
      }
    } catch let error as SQLiteError where error.code == .interrupted {
      throw SearchError.interrupted
    } catch {
      throw SearchError(
        .unavailable, "Your bookmarks can't be searched right now.",
        detail: String(reflecting: error))
    }
    var byID: [HotelID: Hotel] = [:]
    for hotel in hotels { byID[hotel.id] = hotel }
    let page = found.rows.prefix(query.limit).compactMap { HotelID($0.id) }.compactMap { byID[$0] }
    let next = query.offset + query.limit
    return HotelPage(
      hotels: page,
      next: found.rows.count > query.limit && next <= HotelQuery.maximumOffset ? next : nil,
      total: found.total,
      hasMostOnly: found.hasMostOnly,
      source: .mirror)
  }
}
