import Documents
import Stores
import Synchronization

/// Caches verified proofs, so that most requests need neither a signature check nor a read of the store. Every use
/// checks the proof's time again. Whatever ends a session or an account must call ``end(where:)``.
///
/// Where other processes change accounts, too, a proof is used for a second after a look at the system store.
final class ProofCache: Sendable {
  struct Proof: Sendable {
    let principal: Principal
    /// The time from which on the proof is invalid.
    let goodUntil: Timestamp
    /// When it was last checked in the system store.
    fileprivate var checked = Moment()

    init(principal: Principal, goodUntil: Timestamp) {
      self.principal = principal
      self.goodUntil = goodUntil
    }
  }

  /// The kind of a proof. Each has a cache of its own, so that neither evicts the other.
  enum Kind: Sendable {
    case token, password
  }

  /// When something was verified. It must be taken before a verification reads anything.
  struct Moment: Sendable {
    /// A counter of ended proofs. A verification during which the counter has changed must not be cached.
    fileprivate var ends: UInt64 = 0
    fileprivate var time = ContinuousClock.now
  }

  private struct State {
    var tokens = BoundedLRU<ProofKey, Proof>(capacity: AccountSettings.cachedTokens)
    var passwords = BoundedLRU<ProofKey, Proof>(capacity: AccountSettings.cachedPasswords)
    var lookedUp = BoundedLRU<String, Moment>(capacity: AccountSettings.cachedTokens)
    var ends: UInt64 = 0
    var keys: UInt64 = 0
  }

  private let keys: SigningKeys
  private let longest: Duration?
  private let uptime: @Sendable () -> ContinuousClock.Instant
  private let state = Mutex(State())

  /// An empty cache.
  /// - Parameter longest: for how long a proof is used without another look at the system store; nil for no limit, if
  ///   no other process changes accounts.
  init(
    keys: SigningKeys, longest: Duration? = nil,
    uptime: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
  ) {
    self.keys = keys
    self.longest = longest
    self.uptime = uptime
  }

  /// Whether a look at the system store was long enough ago to need another one.
  private func isOld(_ check: Moment) -> Bool {
    longest.map { uptime() - check.time > $0 } ?? false
  }

  /// The principal of a cached proof that is valid now; nil for none.
  func principal(_ kind: Kind, _ key: ProofKey, at now: Timestamp) -> Principal? {
    let generation = keys.generation
    return state.withLock { state in
      if state.keys != generation {
        // A key was removed or replaced, perhaps the one of a cached token.
        state.keys = generation
        state.tokens.removeAll()
        state.ends += 1
      }
      let proof = kind == .token ? state.tokens[key] : state.passwords[key]
      return proof.flatMap { now < $0.goodUntil && !isOld($0.checked) ? $0.principal : nil }
    }
  }

  /// A cached proof of a password that has to be checked in the system store before it is used; nil for none.
  func uncheckedPassword(_ key: ProofKey, at now: Timestamp) -> Proof? {
    state.withLock { $0.passwords[key] }.flatMap { now < $0.goodUntil ? $0 : nil }
  }

  var moment: Moment {
    let time = uptime()
    return state.withLock { Moment(ends: $0.ends, time: time) }
  }

  /// Caches a proof, unless any proof has ended since `moment`.
  func remember(_ kind: Kind, _ key: ProofKey, _ proof: Proof, since moment: Moment) {
    var proof = proof
    proof.checked = moment
    state.withLock { [proof] state in
      guard state.ends == moment.ends else { return }
      switch kind {
      case .token: state.tokens[key] = proof
      case .password: state.passwords[key] = proof
      }
    }
  }

  /// The sessions whose tokens are cached and valid now, each once, in the order of their ids' bytes.
  func sessions(at now: Timestamp) -> [ListedSession] {
    let proofs = state.withLock { $0.tokens.values }
    var sessions: [String: ListedSession] = [:]
    for proof in proofs where now < proof.goodUntil {
      guard let id = proof.principal.tokenID else { continue }
      let end = proof.principal.expiresAt ?? proof.goodUntil
      if let known = sessions[id], known.expiresAt >= end { continue }
      sessions[id] = ListedSession(id: id, principal: proof.principal, expiresAt: end)
    }
    return sessions.values.sorted { $0.id.precedesBytes(of: $1.id) }
  }

  /// Ends every matching proof: its session was revoked, or its account was erased.
  func end(where fits: (Principal) -> Bool) {
    state.withLock { state in
      state.ends += 1
      state.tokens.removeAll { fits($0.principal) }
      state.passwords.removeAll { fits($0.principal) }
    }
  }

  /// Whether no proof has ended since this principal was last checked in the store.
  func wasLookedUp(_ principal: Principal) -> Bool {
    state.withLock { state in
      state.lookedUp[Self.name(principal)].map {
        $0.ends == state.ends && !isOld($0)
      } ?? false
    }
  }

  /// Records that a principal was found valid in the store, not before `moment`.
  func noteLookup(of principal: Principal, since moment: Moment) {
    state.withLock { $0.lookedUp[Self.name(principal)] = moment }
  }

  private static func name(_ principal: Principal) -> String {
    "\(principal.tokenID ?? principal.id.text)/\(principal.epoch)"
  }
}
