import Crypto
import Documents
import FoundationEssentials
import IPAddresses
import Lanes
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

/// What a proof is remembered by: 256 bits from which neither token nor password can be had.
struct ProofKey: Sendable, Hashable {
  private let words: (UInt64, UInt64, UInt64, UInt64)

  /// The SHA-256 of a token.
  init(token: String) {
    var token = token
    var hash = SHA256()
    token.withUTF8 { hash.update(bufferPointer: UnsafeRawBufferPointer($0)) }
    self.init(hash.finalize())
  }

  /// The HMAC of a name and a password under a key that only this process has: a plain hash of a
  /// password could be guessed from a dump of memory.
  init(name: UserName, password: [UInt8], under key: SymmetricKey) {
    var hash = HMAC<SHA256>(key: key)
    hash.update(data: Array("\(name.key.utf8.count):".utf8))
    hash.update(data: Array(name.key.utf8))
    hash.update(data: password)
    self.init(hash.finalize())
  }

  /// - Parameter digest: 32 bytes.
  private init(_ digest: some ContiguousBytes) {
    words = digest.withUnsafeBytes { bytes in
      func word(_ place: Int) -> UInt64 {
        bytes.loadUnaligned(fromByteOffset: place * 8, as: UInt64.self)
      }
      return (word(0), word(1), word(2), word(3))
    }
  }

  static func == (left: ProofKey, right: ProofKey) -> Bool { left.words == right.words }

  func hash(into hasher: inout Hasher) { hasher.combine(words.0) }
}

/// Lets requests that bring the same name and password from the same address at once share one
/// verification: a sync client opens several connections with Basic credentials in one breath.
actor SharedVerifications {
  /// What is verified, and where it comes from.
  struct Key: Sendable, Hashable {
    /// Name and password.
    let proof: ProofKey
    /// Where from.
    let address: ClientAddress
  }

  private var running: [Key: Task<VerifiedUser, any Error>] = [:]

  /// Joins the verification under way, or begins one. It goes on when its first caller is cancelled, for
  /// those that have joined.
  func user(
    of key: Key, _ verify: @escaping @Sendable () async throws -> VerifiedUser
  ) async throws -> VerifiedUser {
    if let task = running[key] { return try await task.value }
    // On the account of who asks first.
    let task = Task(executorPreference: WorkExecutor.current) { try await verify() }
    running[key] = task
    defer { running[key] = nil }
    return try await task.value
  }
}

/// Somebody whose name and password were right.
struct VerifiedUser: Sendable {
  /// A user, or the administrator.
  let kind: Principal.Kind
  /// The account.
  let id: AccountID
  /// The name as signed up.
  let name: UserName
  /// The account's epoch.
  let epoch: Int
  /// Guests whose bookmarks are on their way.
  let adopting: [AccountID]

  /// Who that is to a request.
  var principal: Principal {
    Principal(kind: kind, id: id, username: name.text, store: .user(id), epoch: epoch)
  }
}
