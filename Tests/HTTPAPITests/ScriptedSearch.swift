import Documents
import Hotels
import Synchronization

/// An upstream that returns all its hotels for any query, or fails as a test specifies.
final class ScriptedSearch: HotelSearching {
  private struct State {
    var hotels: [Hotel] = []
    var failure: SearchError?
    var queries: [HotelQuery] = []
    var source = HotelPage.Source.upstream
    var age: Int?
    var note: String?
  }

  private let state = Mutex(State())

  /// The queries so far.
  var queries: [HotelQuery] { state.withLock { $0.queries } }

  /// Adds hotels, each a JSON object.
  func add(_ texts: String...) throws {
    for text in texts {
      let node = try ParsedJSON(Array(text.utf8), limits: .document).root
      let hotel = try Hotel(node, from: .upstream)
      state.withLock { $0.hotels.append(hotel) }
    }
  }

  /// Makes all later requests fail; nil ends that.
  func fail(with code: SearchError.Code?) {
    state.withLock { state in
      state.failure = code.map { SearchError($0, "The search fails", detail: "scripted detail") }
    }
  }

  /// Sets the source, age and note of later answers.
  func answer(from source: HotelPage.Source, age: Int, note: String) {
    state.withLock { state in (state.source, state.age, state.note) = (source, age, note) }
  }

  func search(_ query: HotelQuery) async throws(SearchError) -> HotelPage {
    let now = state.withLock { state in
      state.queries.append(query)
      return state
    }
    let hotels = now.hotels
    if let failure = now.failure { throw failure }
    let page = Array(hotels.dropFirst(query.offset).prefix(query.limit))
    let end = query.offset + page.count
    return HotelPage(
      hotels: page, next: end < hotels.count ? end : nil, source: now.source, age: now.age,
      cacheNote: now.note)
  }

  func hotel(_ id: HotelID) async throws(SearchError) -> Hotel? {
    let (failure, hotels) = state.withLock { ($0.failure, $0.hotels) }
    if let failure { throw failure }
    return hotels.first { $0.id == id }
  }

  func checkReady() async throws(SearchError) {
    if let failure = state.withLock({ $0.failure }) { throw failure }
  }
}
