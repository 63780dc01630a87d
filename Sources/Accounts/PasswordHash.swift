import Crypto
import CryptoExtras
import Documents
import FoundationEssentials
import IPAddresses
import Scheduling
import Stores

/// A stored password: its hash and the parameters of the hash. It prints as its type name only.
package struct PasswordHash: Sendable, Equatable, CustomStringConvertible, CustomReflectable {
  let parameters: ScryptParameters
  /// Random bytes that make the hashes of equal passwords differ.
  let salt: [UInt8]
  let key: [UInt8]
  /// Of what it is the hash.
  var form = PasswordForm.plain
}

extension PasswordHash {
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
    guard let form = node["scheme"]?.string.flatMap(PasswordForm.init),
      let rounds = node["rounds"]?.int, let blockSize = node["blockSize"]?.int,
      let parallelism = node["parallelism"]?.int,
      let parameters = ScryptParameters(
        rounds: rounds, blockSize: blockSize, parallelism: parallelism),
      let salt = node["salt"]?.string.flatMap({ Hex.bytes($0.utf8) }), !salt.isEmpty,
      let key = node["key"]?.string.flatMap({ Hex.bytes($0.utf8) }),
      key.count == ScryptParameters.keyBytes
    else { return nil }
    self.init(parameters: parameters, salt: salt, key: key, form: form)
  }

  var value: JSONValue {
    .object([
      "scheme": .string(form.rawValue), "rounds": .number(JSONNumber(parameters.rounds)),
      "blockSize": .number(JSONNumber(parameters.blockSize)),
      "parallelism": .number(JSONNumber(parameters.parallelism)),
      "salt": .string(Hex.string(salt)), "key": .string(Hex.string(key)),
    ])
  }

  /// Tells one stored password from another: the first bytes of its salt.
  var mark: UInt64 { salt.prefix(8).reduce(0) { $0 << 8 | UInt64($1) } }

  package var description: String { "PasswordHash" }
  package var customMirror: Mirror { Mirror(self, children: EmptyCollection()) }

  static func randomSalt() -> [UInt8] {
    (0..<ScryptParameters.saltBytes).map { _ in UInt8.random(in: .min ... .max) }
  }

  /// The hash of a password, computed on the caller's thread; empty when the system has not enough memory.
  /// - Parameter password: prepared by ``PasswordRule``.
  static func key(of password: [UInt8], salt: [UInt8], _ parameters: ScryptParameters) -> [UInt8] {
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
    semaphore = FairSemaphore(.hashes, permits: atOnce, queueLimit: waiting)
    self.parameters = parameters
  }

  /// Hashes a password with a new salt.
  /// - Parameter password: prepared by ``PasswordRule``.
  /// - Throws: `hashingBusy`.
  func hash(_ password: [UInt8], as form: PasswordForm = .plain) async throws -> PasswordHash {
    let salt = PasswordHash.randomSalt()
    let key = try await derive(form.hashed(password), salt: salt, parameters)
    return PasswordHash(parameters: parameters, salt: salt, key: key, form: form)
  }

  /// Whether a password matches a hash. Without a hash, as for an unknown name, the same work is done, so that the
  /// time does not reveal which names exist.
  /// - Throws: `hashingBusy`.
  func verify(_ password: [UInt8], against hash: PasswordHash?) async throws -> Bool {
    let parameters = hash?.parameters ?? parameters
    let salt = hash?.salt ?? [UInt8](repeating: 0, count: ScryptParameters.saltBytes)
    let password = hash?.form.hashed(password) ?? password
    let key = try await derive(password, salt: salt, parameters)
    guard let hash else { return false }
    return Secret.constantTimeEqual(key, hash.key)
  }

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

/// The credentials of a verification, and the address that they come from. Simultaneous requests with the same ones
/// share one verification: a sync client opens several connections with Basic credentials at once. The first caller's
/// account is charged for the processor time.
struct SharedVerification: Sendable, Hashable {
  /// Name and password.
  let proof: ProofKey
  /// The sender's address.
  let address: ClientAddress
}

/// A user, or the administrator, whose name and password were verified.
struct VerifiedUser: Sendable {
  /// The kind: a user or the administrator.
  let kind: Principal.Kind
  let id: AccountID
  /// The user name, spelt as at the sign-up.
  let name: UserName
  let epoch: Int
  /// Guests whose adoption is not complete.
  let adopting: [AccountID]
  /// When the verification began.
  let moment: ProofCache.Moment
  /// Whether the password was right at the same address within the last week.
  var isProven = false

  var principal: Principal {
    Principal(kind: kind, id: id, username: name.text, store: .user(id), epoch: epoch)
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

  static let saltBytes = 16
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
