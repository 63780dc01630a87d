import Hotels
import Scheduling
import Stores
import Synchronization

/// Writes the facts of a search's answer into the person's bookmarks, after the answer is sent. It runs one task per
/// store and ``atOnce`` in all. What is skipped follows with the next search.
final class FactsRefresher: Sendable {
  /// The maximum of stores that are refreshed at the same time.
  static let atOnce = 8

  private let hotels: HotelService
  private let running = Mutex<Set<StoreName>>([])

  /// An idle refresher.
  init(_ hotels: HotelService) { self.hotels = hotels }

  /// Refreshes bookmarks in the background.
  /// - Parameter shown: hotels as the upstream describes them, all of them bookmarked in the store.
  func refresh(_ shown: [Hotel], in store: StoreName) {
    guard !shown.isEmpty else { return }
    let isFree = running.withLock { running in
      guard running.count < Self.atOnce else { return false }
      return running.insert(store).inserted
    }
    guard isFree else { return }
    Work.background { [self] in
      // A store that is full, erased or closing keeps its present facts.
      _ = try? await hotels.refresh(shown, in: store)
      _ = running.withLock { $0.remove(store) }
    }
  }
}
