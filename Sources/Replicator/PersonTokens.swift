import Stores
import Synchronization

/// The tokens with which replications reach people's own stores. Each is used for a minute, so that an account that is
/// gone, and a new epoch of one, are noticed soon.
final class PersonTokens: Sendable {
  private static let age = Duration.seconds(60)

  private let make: PeerClients.TokenMaker
  private let known = Mutex<[AccountID: (token: String, until: ContinuousClock.Instant)]>([:])

  init(_ make: @escaping PeerClients.TokenMaker) { self.make = make }

  /// - Throws: the errors of the account's store; also for an account that is gone.
  func token(of person: ReplicationEndpoint.Person) async throws -> String {
    let now = ContinuousClock.now
    if let found = known.withLock({ $0[person.id] }), found.until > now { return found.token }
    let token = try await make(person)
    known.withLock { known in
      known = known.filter { $0.value.until > now }
      known[person.id] = (token, now + Self.age)
    }
    return token
  }

  /// Forgets a token that was refused: a new password ends it.
  func forget(_ person: ReplicationEndpoint.Person) {
    known.withLock { $0[person.id] = nil }
  }
}
