import Hotels
import Stores
import Synchronization

/// Brings what an upstream has just shown into the bookmarks of the one it was shown to, after the answer is
/// sent. One task a store at a time and few in all: what is passed over comes again with the next search.
final class FactsRefresher: Sendable {
  /// Stores that are refreshed at once, at most.
  static let atOnce = 8

  private let hotels: HotelService
  private let running = Mutex<Set<StoreName>>([])

  /// A refresher that does nothing yet.
  init(_ hotels: HotelService) { self.hotels = hotels }

  /// Refreshes bookmarks behind the scenes.
  /// - Parameter shown: hotels as the upstream describes them, all of them bookmarked in the store.
  func refresh(_ shown: [Hotel], in store: StoreName) {
    guard !shown.isEmpty else { return }
    let isFree = running.withLock { running in
      guard running.count < Self.atOnce else { return false }
      return running.insert(store).inserted
    }
    guard isFree else { return }
    Task {
      // A store that is full, gone or closing keeps the facts that it has.
      _ = try? await hotels.refresh(shown, in: store)
      _ = running.withLock { $0.remove(store) }
    }
  }
}
