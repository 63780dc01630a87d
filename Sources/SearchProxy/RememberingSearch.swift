package import Hotels
import Synchronization

/// A search that also knows the hotels it has shown by id, for upstreams that have no look-up, so
/// that what a person sees in a list can be bookmarked by its id alone.
package final class RememberingSearch: HotelSearching {
  private let base: any HotelSearching
  private let recent: Mutex<RecentHotels>

  /// Remembers what another search shows.
  package init(_ base: any HotelSearching, recent: RecentHotels = RecentHotels()) {
    self.base = base
    self.recent = Mutex(recent)
  }

  /// What the other search finds.
  package func search(_ query: HotelQuery) async throws(SearchError) -> HotelPage {
    let page = try await base.search(query)
    recent.withLock { recent in
      for hotel in page.hotels { recent.remember(hotel) }
    }
    return page
  }

  /// The hotel as search has shown it last, else what the other search knows.
  package func hotel(_ id: HotelID) async throws(SearchError) -> Hotel? {
    if let hotel = recent.withLock({ $0.hotel(id) }) { return hotel }
    return try await base.hotel(id)
  }

  /// Whether the other search is ready.
  package func checkReady() async throws(SearchError) {
    try await base.checkReady()
  }
}
