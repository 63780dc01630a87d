import IPAddresses
import Stores
import Synchronization

/// The imports that are under way. One may last for hours, because its body may come slowly.
final class ImportPlaces: Sendable {
  /// The limit of imports from one address.
  static let perAddress = 4

  private let places = Mutex(
    Places<Place>(
      .init(
        total: DatabaseManager.filledAtOnce, perAddress: perAddress,
        perPrincipal: perAddress)))

  /// The place of one import.
  final class Place: Sendable {
    private let isLost = Atomic(false)

    fileprivate func lose() { isLost.store(true, ordering: .relaxed) }

    /// - Throws: `unavailable` if an import from another address needed the place.
    func check() throws {
      if isLost.load(ordering: .relaxed) { throw ImportPlaces.full }
    }
  }

  /// Takes a place; ``give(_:)`` gives it back.
  /// - Throws: `unavailable`.
  func take(from address: ClientAddress, as principal: String) throws -> Place {
    let place = Place()
    guard
      case .taken(let displaced) = places.withLock({ places in
        places.take(place, from: address, as: principal)
      })
    else { throw Self.full }
    displaced?.lose()
    return place
  }

  /// Gives a place back.
  func give(_ place: Place) { places.withLock { $0.give(place) } }

  private static let full = ServiceError(
    .unavailable, "Too many imports are under way; try again soon", retryAfterSeconds: 10)
}
