import Crypto
import CryptoExtras
import Documents
import FoundationEssentials
import IPAddresses
import JSON
import Lanes
import Stores
import Synchronization

/// A password as it is stored: the hash and how it was made. It prints as nothing but its kind.
package struct PasswordHash: Sendable, Equatable, CustomStringConvertible, CustomReflectable {
  /// The cost.
  let parameters: ScryptParameters
  /// Random bytes that make the hashes of equal passwords differ.
  let salt: [UInt8]
  /// The hash.
  let key: [UInt8]

  /// A hash by its parts.
  init(parameters: ScryptParameters, salt: [UInt8], key: [UInt8]) {
    self.parameters = parameters
    self.salt = salt
    self.key = key
  }

  /// The hash of a password under a new salt. Blocks for as long as the parameters make it take (50 ms): for
  /// the start of the service.
  /// - Returns: nil when the system does not give the memory.
  init?(of password: Secret, _ parameters: ScryptParameters) {
    let salt = Self.randomSalt()
    let key = Self.key(of: PasswordRule.normalized(password), salt: salt, parameters)
    guard key.count == ScryptParameters.keyBytes else { return nil }
    self.init(parameters: parameters, salt: salt, key: key)
  }

  /// Reads ``value`` back; nil for anything else.
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

  /// What a password hashes to, on the thread of the caller; empty when the system does not give the memory.
  /// - Parameter password: as ``PasswordRule`` prepares it.
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

/// Hashes passwords with scrypt (RFC 7914), a few at once, off Swift's own threads.
struct PasswordHashing: Sendable {
  private let run: AccountService.BlockingRun
  private let semaphore: FairSemaphore
  private let parameters: ScryptParameters

  /// Hashing with these parameters from now on.
  init(
    run: @escaping AccountService.BlockingRun, atOnce: Int, waiting: Int,
    parameters: ScryptParameters
  ) {
    self.run = run
    semaphore = FairSemaphore(permits: atOnce, queueLimit: waiting)
    self.parameters = parameters
  }

  /// The hash of a password under a new salt.
  /// - Parameter password: as ``PasswordRule`` prepares it.
  /// - Throws: `hashingBusy`.
  func hash(_ password: [UInt8]) async throws -> PasswordHash {
    let salt = PasswordHash.randomSalt()
    let key = try await derive(password, salt: salt, parameters)
    return PasswordHash(parameters: parameters, salt: salt, key: key)
  }

  /// Whether a password is the one that was hashed. Without a hash, as for a name that nobody has, the
  /// same work is done for nothing, so that the time taken does not tell which names exist.
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
    // Without a place, at the end of the service, or of the memory that the system gives.
    guard let key = key ?? nil, key.count == ScryptParameters.keyBytes else {
      throw ServiceError.hashingBusy
    }
    return key
  }
}

/// The cost of hashing one password with scrypt (RFC 7914 section 2).
package struct ScryptParameters: Sendable, Equatable {
  /// N, the cost in time and memory; a power of two.
  package let rounds: Int
  /// r, the size of a block: memory is 128 · N · r bytes.
  package let blockSize: Int
  /// p, how often it is done.
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

  /// The sessions whose tokens are remembered and good now, each once, by the bytes of their ids.
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
