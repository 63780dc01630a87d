import Documents

/// A password as it is stored: the hash and how it was made.
struct PasswordHash: Sendable, Equatable {
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
}
