import CryptoExtras
import Documents
import FoundationEssentials
import JSON
import Lanes
import Stores

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
  private let gate: FairGate
  private let parameters: ScryptParameters

  /// Hashing with these parameters from now on.
  init(
    run: @escaping AccountService.BlockingRun, atOnce: Int, waiting: Int,
    parameters: ScryptParameters
  ) {
    self.run = run
    gate = FairGate(places: atOnce, seats: waiting)
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
    let key = await gate.pass { _ in
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
