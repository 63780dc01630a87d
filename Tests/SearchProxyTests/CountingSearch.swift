import Documents
import Hotels
import SearchProxy
import Synchronization

/// An upstream in memory that counts calls. A test can hold its calls back or make them fail.
final class CountingSearch: RemoteUpstream {
  private struct State {
    var calls: [HotelQuery] = []
    var running = 0
    var highest = 0
    var hotels: [Hotel] = []
    var failure: SearchError?
    var isHolding = false
    var held: [UInt64: CheckedContinuation<Void, Never>] = [:]
    var lastTicket: UInt64 = 0
    var lookUps: [HotelID] = []
  }

  /// Whether it supports look-ups of hotels by id.
  let looksUpIDs: Bool

  private let state = Mutex(State())

  /// An upstream with `count` hotels, `hotel_1` and so on.
  init(hotels count: Int = 0, looksUpIDs: Bool = true) throws {
    self.looksUpIDs = looksUpIDs
    try change(hotels: count)
  }

  var calls: [HotelQuery] { state.withLock { $0.calls } }
  /// The ids that were looked up.
  var lookUps: [HotelID] { state.withLock { $0.lookUps } }
  /// The most searches that ran at the same time.
  var highest: Int { state.withLock { $0.highest } }

  func change(hotels count: Int, name: String = "Inn") throws {
    try change((1..<count + 1).map { #"{"id":"hotel_\#($0)","name":"\#(name) \#($0)"}"# })
  }

  /// Replaces the hotels. Each is a JSON text.
  func change(_ texts: [String]) throws {
    let hotels = try texts.map { text in
      try Hotel(ParsedJSON(Array(text.utf8), limits: .document).root, from: .upstream)
    }
    state.withLock { $0.hotels = hotels }
  }

  /// Makes all later calls fail; nil ends that.
  func fail(_ failure: SearchError?) { state.withLock { $0.failure = failure } }

  /// Holds every search until it is released or cancelled.
  func hold() { state.withLock { $0.isHolding = true } }

  /// Releases all searches, later ones included.
  func release() {
    let held = state.withLock { state in
      state.isHolding = false
      defer { state.held = [:] }
      return state.held
    }
    for continuation in held.values { continuation.resume() }
  }

  /// The text `nothing` matches no hotel, so no call is needed.
  func answerWithoutAsking(_ query: HotelQuery) -> HotelPage? {
    query.description == "nothing" ? HotelPage(hotels: [], next: nil) : nil
  }

  func search(_ query: HotelQuery) async throws(SearchError) -> HotelPage {
    state.withLock { state in
      state.calls.append(query)
      state.running += 1
      state.highest = max(state.highest, state.running)
    }
    await waitIfHeld()
    let (failure, hotels) = state.withLock { state in
      state.running -= 1
      return (state.failure, state.hotels)
    }
    if Task.isCancelled { throw SearchError(.unavailable, "cancelled") }
    if let failure { throw failure }
    let end = query.offset + query.limit
    return HotelPage(
      hotels: Array(hotels.dropFirst(query.offset).prefix(query.limit)),
      next: end < hotels.count ? end : nil)
  }

  func hotel(_ id: HotelID) async throws(SearchError) -> Hotel? {
    let (failure, hotels) = state.withLock { state in
      state.lookUps.append(id)
      return (state.failure, state.hotels)
    }
    await waitIfHeld()
    if let failure { throw failure }
    return hotels.first { $0.id == id }
  }

  func checkReady() async throws(SearchError) {
    if let failure = state.withLock({ $0.failure }) { throw failure }
  }

  private func waitIfHeld() async {
    let ticket: UInt64? = state.withLock { state in
      guard state.isHolding else { return nil }
      state.lastTicket += 1
      return state.lastTicket
    }
    guard let ticket else { return }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isFree = state.withLock { state in
          guard state.isHolding, !Task.isCancelled else { return true }
          state.held[ticket] = continuation
          return false
        }
        if isFree { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.held.removeValue(forKey: ticket) }?.resume()
    }
  }
}

extension SearchError {
  /// The error of an upstream that refuses connections.
  static let refused = SearchError(.unavailable, "gone", detail: "refused", mayRetry: true)
  /// The error of an upstream that sends an invalid answer.
  static let nonsense = SearchError(.badAnswer, "nonsense")
}
