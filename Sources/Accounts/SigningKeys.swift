package import Documents
import Stores
import Synchronization

/// The keys that sign tokens: the key in use, and earlier ones, whose tokens remain valid for an overlap.
package final class SigningKeys: Sendable {
  /// How long the tokens of a key remain valid after the key was replaced, in seconds: twice the longest validity of a
  /// token, so that a rotation ends no session, not even by a clock that is behind by as much as such a validity.
  package static let overlap = 2 * AccountSettings.guestSeconds

  private struct State: Sendable {
    var keys: [SigningKey]
    var generation: UInt64 = 0
  }

  /// Where the keys are stored.
  private enum Home: Sendable {
    case memory
    case file(SecretFile)
    case shared(SharedSecrets)
  }

  /// Whether the key file was missing. Tokens that an earlier key signed are not valid any more.
  package let isNew: Bool
  private let home: Home
  private let state: Mutex<State>
  /// When keys were last loaded because a token had an unknown one.
  private let lastSearch = Mutex<ContinuousClock.Instant?>(nil)
  /// The shortest time between two such loads: 100 ms, so that made-up tokens do not cause many.
  private static let searchInterval = Duration.milliseconds(100)

  private init(_ keys: [SigningKey], in home: Home, isNew: Bool = false) {
    (self.home, self.isNew) = (home, isNew)
    state = Mutex(State(keys: keys))
  }

  /// Reads the key file. Creates it with a first key when it is missing, readable by its owner only and on disk
  /// before this returns. Blocks for a few milliseconds; for the start of the service.
  /// - Throws: `keys` when the file is damaged or other users may read it. A new key in its place would end all sessions
  ///   without a word.
  package static func open(_ path: String, now: Timestamp) throws -> SigningKeys {
    let file = SecretFile(path: path)
    if let bytes = try file.read() {
      do { return SigningKeys(try SigningKeyCoding.keys(in: bytes), in: .file(file)) } catch {
        throw ServiceError(
          .keys,
          "The key file is damaged. Put keys.json of a backup in its place. Without a backup remove it: then "
            + "all sessions end, and guests without an account lose their bookmarks",
          detail: "\(path): \(ServiceError(error)?.detail ?? "")")
      }
    }
    let key = try newKey(at: now)
    try file.create(SigningKeyCoding.bytes(of: [key]))
    return SigningKeys([key], in: .file(file), isNew: true)
  }

  /// Reads the keys that several processes share. The first process creates a first key.
  /// - Throws: `keys` when the stored keys are damaged; the store's errors.
  package static func open(in secrets: SharedSecrets, now: Timestamp) async throws -> SigningKeys {
    let key = try newKey(at: now)
    let bytes = try await secrets.change(.keys) { $0 ?? SigningKeyCoding.bytes(of: [key]) }
    return SigningKeys(try SigningKeyCoding.keys(in: bytes), in: .shared(secrets))
  }

  /// Keys that are only in memory, for a service that stores nothing.
  /// - Throws: `keys`.
  package static func temporary(now: Timestamp) throws -> SigningKeys {
    SigningKeys([try newKey(at: now)], in: .memory)
  }

  /// Puts a new key in use. Tokens of earlier keys remain valid for the overlap, or none of them if all are ended; keys
  /// whose overlap has ended are removed. Durable before this returns.
  /// - Throws: `keys` when the file can't be written; the store's errors. The keys in memory are unchanged then.
  package func rotate(now: Timestamp, endingAll isEnding: Bool = false) async throws {
    let key = try Self.newKey(at: now)
    let end = now.adding(seconds: Self.overlap)
    let following: @Sendable ([SigningKey]) -> [SigningKey] = { keys in
      [key] + (isEnding ? [] : keys.map { $0.retired(at: end) }.filter { $0.isGood(at: now) })
    }
    switch home {
    case .shared(let secrets):
      let bytes = try await secrets.change(.keys) { bytes in
        let known = try bytes.map { try SigningKeyCoding.keys(in: $0) } ?? []
        return SigningKeyCoding.bytes(of: following(known))
      }
      take(try SigningKeyCoding.keys(in: bytes))
    case .file(let file):
      let keys = following(state.withLock { $0.keys })
      try file.replace(SigningKeyCoding.bytes(of: keys))
      take(keys)
    case .memory: take(following(state.withLock { $0.keys }))
    }
  }

  /// Reads the stored keys again, to find those that another process has rotated. Keys that are no longer stored
  /// become invalid with this call.
  /// - Throws: `keys`; the store's errors. The keys are unchanged then.
  package func reload() async throws {
    let (bytes, location): ([UInt8]?, String)
    switch home {
    case .memory: return
    case .file(let file): (bytes, location) = (try file.read(), file.path)
    case .shared(let secrets):
      (bytes, location) = (try await secrets.read(.keys), "the system store")
    }
    guard let bytes else {
      throw ServiceError(.keys, "The stored keys are missing.", detail: location)
    }
    take(try SigningKeyCoding.keys(in: bytes))
  }

  private func take(_ keys: [SigningKey]) {
    state.withLock { state in
      guard !state.keys.elementsEqual(keys, by: { $0.id == $1.id && $0.until == $1.until }) else {
        return
      }
      state.keys = keys
      state.generation += 1
    }
  }

  /// Loads the keys if a token's key is unknown and another process may have made it a moment ago. An error is
  /// ignored: the token is refused then.
  func search(for id: KeyID, at now: Timestamp) async {
    guard case .shared = home, key(id, at: now) == nil else { return }
    let isDue = lastSearch.withLock { last in
      let present = ContinuousClock.now
      if let last, last + Self.searchInterval > present { return false }
      last = present
      return true
    }
    if isDue { try? await reload() }
  }

  /// Changes whenever a key is added or removed.
  package var generation: UInt64 { state.withLock { $0.generation } }

  var current: SigningKey? { state.withLock { $0.keys.first { $0.until == nil } } }

  /// The key with an id, for verifying; nil when it is unknown or its overlap has ended.
  func key(_ id: KeyID, at now: Timestamp) -> SigningKey? {
    state.withLock { $0.keys.first { $0.id == id } }.flatMap { $0.isGood(at: now) ? $0 : nil }
  }

  private static func newKey(at now: Timestamp) throws -> SigningKey {
    guard let key = SigningKey.random(at: now) else {
      throw ServiceError(.keys, "No key could be made.")
    }
    return key
  }
}

/// The content of the key file: `{"version":1,"keys":[{"kid","secret","created","until"}]}`, the key in use first.
/// `kid` and `secret` are hexadecimal, times are milliseconds since 1970. Only replaced keys have `until`.
enum SigningKeyCoding {
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
  /// - Throws: `keys` for anything that ``bytes(of:)`` does not write, and unless exactly one key is in use.
  static func keys(in bytes: [UInt8]) throws -> [SigningKey] {
    guard let root = try? ParsedJSON(bytes, limits: .small).root, root["version"]?.int == 1,
      let list = root["keys"], list.kind == .array
    else { throw damaged("not a list of keys") }
    var keys: [SigningKey] = []
    for node in list.elements {
      guard let id = node["kid"]?.string.flatMap(KeyID.init), let secret = node["secret"]?.string,
        let created = moment(node["created"]),
        let key = SigningKey(
          id: id, secret: Secret(secret), created: created, until: moment(node["until"])),
        node["until"] == nil || key.until != nil, !keys.contains(where: { $0.id == id })
      else { throw damaged("an invalid key") }
      keys.append(key)
    }
    guard keys.count(where: { $0.until == nil }) == 1 else {
      throw damaged("the number of keys in use is not 1")
    }
    return keys
  }

  private static func moment(_ node: JSONNode?) -> Timestamp? {
    node?.int.map { Timestamp(milliseconds: Int64($0)) }
  }

  private static func damaged(_ detail: String) -> ServiceError {
    ServiceError(.keys, "The key file is damaged.", detail: detail)
  }
}
