import Crypto
import CryptoExtras
import Documents
import FoundationEssentials
import IPAddresses
import JSON
import Lanes
import Stores
import Synchronization

/// A stored password: its hash and the parameters of the hash. It prints as its type name only.
package struct PasswordHash: Sendable, Equatable, CustomStringConvertible, CustomReflectable {
  /// The cost.
  let parameters: ScryptParameters
  /// Random bytes that make the hashes of equal passwords differ.
  let salt: [UInt8]
  /// The hash.
  let key: [UInt8]

  /// Makes a hash.
  init(parameters: ScryptParameters, salt: [UInt8], key: [UInt8]) {
    self.parameters = parameters
    self.salt = salt
    self.key = key
  }

  /// Hashes a password with a new salt. Blocks for as long as the parameters require (50 ms); for the start of the
  /// service.
  /// - Returns: nil when the system has not enough memory.
  init?(of password: Secret, _ parameters: ScryptParameters) {
    let salt = Self.randomSalt()
    let key = Self.key(of: PasswordRule.normalized(password), salt: salt, parameters)
    guard key.count == ScryptParameters.keyBytes else { return nil }
    self.init(parameters: parameters, salt: salt, key: key)
  }

  /// Reads ``value``; nil for anything else.
  init?(_ node: JSONNode) {
    guard node["scheme"]?.stringEquals("scrypt") ?? false,
      let rounds = node["rounds"]?.int, let blockSize = node["blockSize"]?.int,
      let parallelism = node["parallelism"]?.int,
      let parameters = ScryptParameters(
        rounds: rounds, blockSize: blockSize, parallelism: parallelism),
      let salt = node["salt"]?.string.flatMap({ Hex.bytes($0.utf8) }), !salt.isEmpty,
      let key = node["key"]?.string.flatMap({ Hex.bytes($0.utf8) }),
      key.count == ScryptParameters.keyBytes
    else { return nil }
    self.init(parameters: parameters, salt: salt, key: key)
  }

  /// The hash as JSON.
  var value: JSONValue {
    .object([
      "scheme": "scrypt", "rounds": .number(JSONNumber(parameters.rounds)),
      "blockSize": .number(JSONNumber(parameters.blockSize)),
      "parallelism": .number(JSONNumber(parameters.parallelism)),
      "salt": .string(Hex.string(salt)), "key": .string(Hex.string(key)),
    ])
  }

  package var description: String { "PasswordHash" }
  package var customMirror: Mirror { Mirror(self, children: EmptyCollection()) }

  /// Random bytes for a new hash.
  static func randomSalt() -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    return (0..<ScryptParameters.saltBytes).map { _ in
      UInt8.random(in: .min ... .max, using: &generator)
    }
  }

  /// The hash of a password, computed on the caller's thread; empty when the system has not enough memory.
  /// - Parameter password: prepared by ``PasswordRule``.
  static func key(
    of password: [UInt8], salt: [UInt8], _ parameters: ScryptParameters
  ) -> [UInt8] {
    let key = try? KDF.Scrypt.deriveKey(
      from: password, salt: salt, outputByteCount: ScryptParameters.keyBytes,
      rounds: parameters.rounds, blockSize: parameters.blockSize,
      parallelism: parameters.parallelism)
    return key.map { $0.withUnsafeBytes { Array($0) } } ?? []
  }
}

/// Hashes passwords with scrypt (RFC 7914), a few at once, on threads outside Swift's own pool.
struct PasswordHashing: Sendable {
  private let run: AccountService.BlockingRun
  private let semaphore: FairSemaphore
  private let parameters: ScryptParameters

  /// Makes a value that uses these parameters for new hashes.
  init(
    run: @escaping AccountService.BlockingRun, atOnce: Int, waiting: Int,
    parameters: ScryptParameters
  ) {
    self.run = run
    semaphore = FairSemaphore(permits: atOnce, queueLimit: waiting)
    self.parameters = parameters
  }

  /// Hashes a password with a new salt.
  /// - Parameter password: prepared by ``PasswordRule``.
  /// - Throws: `hashingBusy`.
  func hash(_ password: [UInt8]) async throws -> PasswordHash {
    let salt = PasswordHash.randomSalt()
    let key = try await derive(password, salt: salt, parameters)
    return PasswordHash(parameters: parameters, salt: salt, key: key)
  }

  /// Whether a password matches a hash. Without a hash, as for an unknown name, the same work is done, so that the
  /// time does not reveal which names exist.
  /// - Throws: `hashingBusy`.
  func verify(_ password: [UInt8], against hash: PasswordHash?) async throws -> Bool {
    let parameters = hash?.parameters ?? parameters
    let salt = hash?.salt ?? [UInt8](repeating: 0, count: ScryptParameters.saltBytes)
    let key = try await derive(password, salt: salt, parameters)
    guard let hash else { return false }
    return Secret.constantTimeEqual(key, hash.key)
  }

  /// Whether a hash was made with other parameters than are used now.
  func isOutdated(_ hash: PasswordHash) -> Bool { hash.parameters != parameters }

  private func derive(
    _ password: [UInt8], salt: [UInt8], _ parameters: ScryptParameters
  ) async throws -> [UInt8] {
    let key = await semaphore.withPermit { _ in
      try? await run { PasswordHash.key(of: password, salt: salt, parameters) }
    }
    // There was no free slot, the service is stopping, or the system has not enough memory.
    guard let key = key ?? nil, key.count == ScryptParameters.keyBytes else {
      throw ServiceError.hashingBusy
    }
    return key
  }
}

/// The cost of hashing one password with scrypt (RFC 7914 section 2).
package struct ScryptParameters: Sendable, Equatable {
  /// N, the cost in time and memory: a power of two.
  package let rounds: Int
  /// r, the block size. The memory is 128 · N · r bytes.
  package let blockSize: Int
  /// p, the number of repetitions.
  package let parallelism: Int

  /// N = 2^15, r = 8, p = 1: 32 MiB and about 50 ms.
  package static let standard = ScryptParameters(checked: 1 << 15, 8, 1)

  /// Bytes of salt for a new hash.
  static let saltBytes = 16
  /// Bytes of a hash.
  static let keyBytes = 32

  /// Checks the bounds: N a power of two from 2 to 2^20, r and p from 1 to 32, 256 MiB at most.
  package init?(rounds: Int, blockSize: Int, parallelism: Int) {
    guard (2...(1 << 20)).contains(rounds), rounds & (rounds - 1) == 0,
      (1...32).contains(blockSize), (1...32).contains(parallelism),
      128 * rounds * blockSize <= 256 << 20
    else { return nil }
    self.init(checked: rounds, blockSize, parallelism)
  }

  private init(checked rounds: Int, _ blockSize: Int, _ parallelism: Int) {
    self.rounds = rounds
    self.blockSize = blockSize
    self.parallelism = parallelism
  }
}

/// Caches verified proofs, so that most requests need neither a signature check nor a read of the store. Every use
/// checks the proof's time again. Whatever ends a session or an account must call ``end(where:)``.
final class ProofCache: Sendable {
  /// A verified proof.
  struct Proof: Sendable {
    /// The principal.
    let principal: Principal
    /// The time from which on the proof is invalid.
    let goodUntil: Timestamp
    /// When it was last checked in the system store.
    var checked: ContinuousClock.Instant = .now
  }

  /// The kind of a proof. Each has a cache of its own, so that neither evicts the other.
  enum Kind: Sendable {
    case token, password
  }

  /// A counter of ended proofs. A verification during which the counter has changed must not be cached.
  typealias Moment = UInt64

  private struct State {
    var tokens = BoundedLRU<ProofKey, Proof>(capacity: AccountSettings.cachedTokens)
    var passwords = BoundedLRU<ProofKey, Proof>(capacity: AccountSettings.cachedPasswords)
    var lookedUp = BoundedLRU<String, LookUp>(capacity: AccountSettings.cachedTokens)
    var moment: Moment = 0
    var keys: UInt64 = 0
  }

  /// A look at a principal's account.
  private struct LookUp: Sendable {
    let moment: Moment
    let checked: ContinuousClock.Instant
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
  private func isOld(_ checked: ContinuousClock.Instant) -> Bool {
    longest.map { uptime() - checked > $0 } ?? false
  }

  /// The principal of a cached proof that is valid now; nil for none.
  func principal(_ kind: Kind, _ key: ProofKey, at now: Timestamp) -> Principal? {
    let generation = keys.generation
    return state.withLock { state in
      if state.keys != generation {
        // A key was removed or replaced, perhaps the one of a cached token.
        state.keys = generation
        state.tokens.removeAll()
        state.moment += 1
      }
      let proof = kind == .token ? state.tokens[key] : state.passwords[key]
      return proof.flatMap { now < $0.goodUntil && !isOld($0.checked) ? $0.principal : nil }
    }
  }

  /// A cached proof of a password that has to be checked in the system store before it is used; nil for none.
  func uncheckedPassword(_ key: ProofKey, at now: Timestamp) -> Proof? {
    state.withLock { $0.passwords[key] }.flatMap { now < $0.goodUntil ? $0 : nil }
  }

  /// The present counter. It must be read before a verification reads anything.
  var moment: Moment { state.withLock { $0.moment } }

  /// Caches a proof, unless any proof has ended since `moment`.
  func remember(_ kind: Kind, _ key: ProofKey, _ proof: Proof, since moment: Moment) {
    var proof = proof
    proof.checked = uptime()
    state.withLock { [proof] state in
      guard state.moment == moment else { return }
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
      state.moment += 1
      state.tokens.removeAll { fits($0.principal) }
      state.passwords.removeAll { fits($0.principal) }
    }
  }

  /// Whether no proof has ended since this principal was last checked in the store.
  func wasLookedUp(_ principal: Principal) -> Bool {
    state.withLock { state in
      state.lookedUp[Self.name(principal)].map { $0.moment == state.moment && !isOld($0.checked) }
        ?? false
    }
  }

  /// Records that a principal was found valid in the store, not before `moment`.
  func lookedUp(_ principal: Principal, since moment: Moment) {
    let found = LookUp(moment: moment, checked: uptime())
    state.withLock { $0.lookedUp[Self.name(principal)] = found }
  }

  private static func name(_ principal: Principal) -> String {
    "\(principal.tokenID ?? principal.id.text)/\(principal.epoch)"
  }
}

/// The key of a cached proof: 256 bits from which neither token nor password can be recovered.
struct ProofKey: Sendable, Hashable {
  private let words: (UInt64, UInt64, UInt64, UInt64)

  /// The SHA-256 of a token.
  init(token: String) {
    var token = token
    var hash = SHA256()
    token.withUTF8 { hash.update(bufferPointer: UnsafeRawBufferPointer($0)) }
    self.init(hash.finalize())
  }

  /// The HMAC of a name and a password, with a key that only this process has. A plain hash of a password could be
  /// guessed from a memory dump.
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
      func word(_ index: Int) -> UInt64 {
        bytes.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self)
      }
      return (word(0), word(1), word(2), word(3))
    }
  }

  static func == (left: ProofKey, right: ProofKey) -> Bool { left.words == right.words }

  func hash(into hasher: inout Hasher) { hasher.combine(words.0) }
}

/// Lets simultaneous requests with the same name and password from the same address share one verification. A sync
/// client opens several connections with Basic credentials at once.
actor SharedVerifications {
  /// The credentials to verify and the address that they come from.
  struct Key: Sendable, Hashable {
    /// Name and password.
    let proof: ProofKey
    /// The sender's address.
    let address: ClientAddress
  }

  private var running: [Key: Task<VerifiedUser, any Error>] = [:]

  /// Joins the verification in progress, or starts one. It continues when its first caller is cancelled, for the
  /// callers that have joined.
  func user(
    of key: Key, _ verify: @escaping @Sendable () async throws -> VerifiedUser
  ) async throws -> VerifiedUser {
    if let task = running[key] { return try await task.value }
    // The first caller's account is charged for the processor time.
    let task = Task(executorPreference: WorkExecutor.current) { try await verify() }
    running[key] = task
    defer { running[key] = nil }
    return try await task.value
  }
}

/// A user, or the administrator, whose name and password were verified.
struct VerifiedUser: Sendable {
  /// The kind: a user or the administrator.
  let kind: Principal.Kind
  /// The account's id.
  let id: AccountID
  /// The user name, spelt as at the sign-up.
  let name: UserName
  /// The account's epoch.
  let epoch: Int
  /// Guests whose adoption is not complete.
  let adopting: [AccountID]

  /// The principal of requests.
  var principal: Principal {
    Principal(kind: kind, id: id, username: name.text, store: .user(id), epoch: epoch)
  }
}
