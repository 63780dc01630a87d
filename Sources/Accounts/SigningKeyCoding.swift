import Documents

/// The key file's content:
/// `{"version":1,"keys":[{"kid","secret","created","until"}]}`, the key in use first; `kid` and `secret` in
/// hex, times in milliseconds since 1970, `until` only for keys that were followed.
enum SigningKeyCoding {
  /// Writes keys.
  static func bytes(of keys: [SigningKey]) -> [UInt8] {
    let list = keys.map { key in
      var object: JSONObject = [
        "kid": .string(key.id.text), "secret": .string(key.secret.exposed),
        "created": .number(JSONNumber(Int(key.created.milliseconds))),
      ]
      if let until = key.until {
        object.append("until", .number(JSONNumber(Int(until.milliseconds))))
      }
      return JSONValue.object(object)
    }
    return JSONValue.object(["version": 1, "keys": .array(list)]).bytes + [UInt8(ascii: "\n")]
  }

  /// Reads keys.
  /// - Throws: `keys` for anything but what ``bytes(of:)`` writes, and unless exactly one key is in use.
  static func keys(in bytes: [UInt8]) async throws(AccountError) -> [SigningKey] {
    guard let root = try? ParsedJSON(bytes, limits: .small).root, root["version"]?.int == 1,
      let list = root["keys"], list.kind == .array
    else { throw damaged("no list of keys") }
    var keys: [SigningKey] = []
    for node in list.elements {
      guard let id = node["kid"]?.string.flatMap(KeyID.init), let secret = node["secret"]?.string,
        let created = moment(node["created"]),
        let key = await SigningKey(
          id: id, secret: Secret(secret), created: created, until: moment(node["until"])),
        node["until"] == nil || key.until != nil, !keys.contains(where: { $0.id == id })
      else { throw damaged("a key that is none") }
      keys.append(key)
    }
    guard keys.count(where: { $0.until == nil }) == 1 else { throw damaged("not one key in use") }
    return keys
  }

  private static func moment(_ node: JSONNode?) -> Timestamp? {
    node?.int.map { Timestamp(milliseconds: Int64($0)) }
  }

  private static func damaged(_ detail: String) -> AccountError {
    AccountError(.keys, "The key file is damaged.", detail: detail)
  }
}
