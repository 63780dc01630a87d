import Documents
import Stores
import Synchronization

/// Remembers proofs that were verified, so that most requests need neither signature nor store. Every
/// answer is checked again for its time; what ends a session or an account is told to ``end(where:)``.
final class ProofCache: Sendable {
  /// A verified proof.
  struct Proof: Sendable {
    /// Who.
    let principal: Principal
    /// The first moment at which the proof is not good any more.
    let goodUntil: Timestamp
  }

  /// What a proof was: remembered apart, so that neither drives out the other.
  enum Kind: Sendable {
    case token, password
  }

  /// Which proofs had ended when a verification began; a verification that something ended meanwhile
  /// must not be remembered.
  typealias Moment = UInt64

  private struct State {
    var tokens = BoundedLRU<ProofKey, Proof>(capacity: AccountSettings.cachedTokens)
    var passwords = BoundedLRU<ProofKey, Proof>(capacity: AccountSettings.cachedPasswords)
    var lookedUp = BoundedLRU<String, Moment>(capacity: AccountSettings.cachedTokens)
    var moment: Moment = 0
    var keys: UInt64 = 0
  }

  private let keys: SigningKeys
  private let state = Mutex(State())

  /// An empty cache.
  init(keys: SigningKeys) { self.keys = keys }

  /// Who has given a proof that is remembered and good now.
  func principal(_ kind: Kind, _ key: ProofKey, at now: Timestamp) -> Principal? {
    let generation = keys.generation
    return state.withLock { state in
      if state.keys != generation {
        // A key was dropped, perhaps the one under a remembered token.
        state.keys = generation
        state.tokens.removeAll()
        state.moment += 1
      }
      let proof = kind == .token ? state.tokens[key] : state.passwords[key]
      return proof.flatMap { now < $0.goodUntil ? $0.principal : nil }
    }
  }

  /// The present moment, to be taken before a verification looks anything up.
  var moment: Moment { state.withLock { $0.moment } }

  /// Remembers a proof, unless any proof was ended since `moment`.
  func remember(_ kind: Kind, _ key: ProofKey, _ proof: Proof, since moment: Moment) {
    state.withLock { state in
      guard state.moment == moment else { return }
      switch kind {
      case .token: state.tokens[key] = proof
      case .password: state.passwords[key] = proof
      }
    }
  }

  /// Ends every proof that fits: it was revoked, or its account is gone.
  func end(where fits: (Principal) -> Bool) {
    state.withLock { state in
      state.moment += 1
      state.tokens.removeAll { fits($0.principal) }
      state.passwords.removeAll { fits($0.principal) }
    }
  }

  /// Whether nothing was ended since this principal was last looked up in the store.
  func wasLookedUp(_ principal: Principal) -> Bool {
    state.withLock { $0.lookedUp[Self.name(principal)] == $0.moment }
  }

  /// Notes that a principal was found good in the store, not before `moment`.
  func lookedUp(_ principal: Principal, since moment: Moment) {
    state.withLock { $0.lookedUp[Self.name(principal)] = moment }
  }

  private static func name(_ principal: Principal) -> String {
    "\(principal.tokenID ?? principal.id.text)/\(principal.epoch)"
  }
}
