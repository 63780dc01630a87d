import IPAddresses

/// The places of one kind, such as feeds that wait: a limit in all, one for each address and one for each principal.
///
/// When no place is left, the address that holds most loses its newest one to a newcomer from an address that holds
/// fewer. So one can neither fill all places nor keep others out by having come first.
struct Places<Holder: AnyObject & Sendable>: Sendable {
  struct Limits: Sendable {
    /// Places in all.
    let total: Int
    /// Places of one address.
    let perAddress: Int
    /// Places of one principal.
    let perPrincipal: Int
  }

  /// The answer to somebody who wants a place.
  enum Decision {
    /// The newcomer has a place; `displaced` has lost it.
    case taken(displaced: Holder?)
    /// The principal or the address has as many as it may, or no other address holds more.
    case refused
  }

  private struct Place {
    let holder: Holder
    let address: ClientAddress?
    let principal: String
  }

  private let limits: Limits
  private var places: [ObjectIdentifier: Place] = [:]
  private var byPrincipal: [String: Int] = [:]
  /// The holders of each address, in the order in which they came.
  private var byAddress: [ClientAddress: [ObjectIdentifier]] = [:]

  /// All places are free.
  init(_ limits: Limits) { self.limits = limits }

  /// How many places are taken.
  var count: Int { places.count }

  /// Takes a place; ``give(_:)`` gives it back.
  /// - Parameter address: nil for the administrator, who is counted by principal only and is never displaced.
  mutating func take(
    _ holder: Holder, from address: ClientAddress?, as principal: String
  ) -> Decision {
    let own = address.map { byAddress[$0]?.count ?? 0 } ?? 0
    guard byPrincipal[principal, default: 0] < limits.perPrincipal, own < limits.perAddress else {
      return .refused
    }
    var displaced: Holder?
    if places.count >= limits.total {
      guard let most = byAddress.values.max(by: { $0.count < $1.count }), most.count > own + 1,
        let newest = most.last
      else { return .refused }
      displaced = places[newest]?.holder
      give(newest)
    }
    let id = ObjectIdentifier(holder)
    places[id] = Place(holder: holder, address: address, principal: principal)
    byPrincipal[principal, default: 0] += 1
    if let address { byAddress[address, default: []].append(id) }
    return .taken(displaced: displaced)
  }

  /// Gives a place back; has no effect for a holder without one.
  mutating func give(_ holder: Holder) { give(ObjectIdentifier(holder)) }

  private mutating func give(_ id: ObjectIdentifier) {
    guard let place = places.removeValue(forKey: id) else { return }
    if let count = byPrincipal[place.principal] {
      byPrincipal[place.principal] = count > 1 ? count - 1 : nil
    }
    guard let address = place.address else { return }
    byAddress[address]?.removeAll { $0 == id }
    if byAddress[address]?.isEmpty == true { byAddress[address] = nil }
  }
}
