import CryptoExtras
import Documents
import FoundationEssentials

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
