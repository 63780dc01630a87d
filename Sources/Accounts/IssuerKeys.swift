import Crypto
import CryptoExtras
import Documents
import FoundationEssentials
import JSON
package import Stores

/// An issuer's keys, gotten when they are first needed and kept for a while.
///
/// At most one attempt to get them is made in any 30 seconds, and those who wait for it share it: however many
/// tokens with made-up key names arrive, the issuer is asked no more often than that.
actor IssuerKeys {
  /// How old keys may be that are used without asking, in seconds: 10 minutes. So long a key works on that the
  /// issuer has taken back.
  static let freshSeconds: Int64 = 600
  /// How old keys may be that are used while the issuer does not answer, in seconds: 6 hours.
  static let staleSeconds: Int64 = 6 * 3_600
  /// How far apart two attempts are, in seconds.
  static let retrySeconds: Int64 = 30

  nonisolated let issuer: TrustedIssuer
  private let documents: any IssuerDocuments
  private let now: @Sendable () -> Timestamp
  private var keys: IssuerKeySet?
  private var gotten: Timestamp?
  private var attempted: Timestamp?
  private var attempt: Task<Void, Never>?

  /// No keys yet.
  init(
    of issuer: TrustedIssuer, documents: any IssuerDocuments,
    now: @escaping @Sendable () -> Timestamp
  ) {
    self.issuer = issuer
    self.documents = documents
    self.now = now
  }

  /// The issuer's key of a name; nil when it has none.
  /// - Throws: `issuerUnavailable` when there are no keys to look in.
  func key(_ name: IDToken.KeyName) async throws -> IssuerKey? {
    if let key = held(notOlderThan: Self.freshSeconds)?[name] { return key }
    await ask()
    guard let keys = held(notOlderThan: Self.staleSeconds) else {
      throw ServiceError.issuerUnavailable("no keys of \(issuer.url)")
    }
    return keys[name]
  }

  private func held(notOlderThan seconds: Int64) -> IssuerKeySet? {
    // A clock that was set back must not make keys younger than they are for longer than it was set back.
    let now = now()
    guard let moment = gotten.map({ min($0, now) }) else { return nil }
    gotten = moment
    return now < moment.adding(seconds: seconds) ? keys : nil
  }

  /// Joins the attempt under way, or begins one if it is time. It goes on when its first caller is cancelled, for
  /// those that have joined.
  private func ask() async {
    if let attempt { return await attempt.value }
    let now = now()
    if let last = attempted.map({ min($0, now) }) {
      attempted = last
      guard last.adding(seconds: Self.retrySeconds) <= now else { return }
    }
    attempted = now
    let task = Task { await get() }
    attempt = task
    await task.value
  }

  private func get() async {
    defer { attempt = nil }
    do {
      let url = if let known = issuer.keysURL { known } else { try await discoveredURL() }
      keys = try IssuerKeySet(try await documents.document(at: url, of: issuer))
      gotten = now()
    } catch {
      documents.failed(error, of: issuer)
    }
  }

  /// What the issuer's discovery document says; it must be that issuer's, byte for byte (OpenID Connect Discovery
  /// 1.0, section 4.3).
  private func discoveredURL() async throws -> String {
    let bytes = try await documents.document(at: issuer.discoveryURL, of: issuer)
    guard let root = try? ParsedJSON(bytes, limits: IssuerKeySet.limits).root,
      root["issuer"]?.stringEquals(issuer.url) ?? false, let url = root["jwks_uri"]?.string
    else { throw ServiceError.issuerUnavailable("the discovery document is not this issuer's") }
    return url
  }
}

extension ServiceError {
  /// The answer when the keys of a token's issuer can't be had.
  package static func issuerUnavailable(_ detail: String) -> ServiceError {
    ServiceError(
      .issuerUnavailable, "The token's issuer can't be reached to verify it.",
      retryAfterSeconds: Int(IssuerKeys.retrySeconds), detail: detail)
  }
}

/// One public key of another issuer: a JSON Web Key (RFC 7517) that is good for one algorithm, whatever a token
/// says.
///
/// Taken are RSA keys of 2,048 to 8,192 bits with a public exponent from 65,537, points on P-256, and Ed25519.
struct IssuerKey: Sendable {
  private enum Key: Sendable {
    case rsa(_RSA.Signing.PublicKey)
    case p256(P256.Signing.PublicKey)
    case ed25519(Curve25519.Signing.PublicKey)
  }

  /// What tokens name it by.
  let name: IDToken.KeyName
  private let key: Key

  /// Reads a key; nil for one of another type, for another use or algorithm, without a name, too weak, not on its
  /// curve, or with its private part beside it.
  init?(_ node: JSONNode) {
    guard node.kind == .object, node["d"] == nil, node["use"]?.stringEquals("sig") ?? true,
      node["key_ops"]?.elements.contains(where: { $0.stringEquals("verify") }) ?? true,
      let (algorithm, key) = Self.key(node),
      node["alg"]?.stringEquals(algorithm.rawValue) ?? true,
      let name = IDToken.KeyName(node["kid"], algorithm)
    else { return nil }
    self.name = name
    self.key = key
  }

  /// Whether a signature is this key's.
  func isSignature(_ signature: [UInt8], of bytes: [UInt8]) -> Bool {
    switch key {
    case .rsa(let key):
      // RFC 7518 section 3.3 asks for this padding.
      return key.isValidSignature(
        .init(rawRepresentation: signature), for: SHA256.hash(data: bytes),
        padding: .insecurePKCS1v1_5)
    case .p256(let key):
      let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature)
      return signature.map { key.isValidSignature($0, for: bytes) } ?? false
    case .ed25519(let key):
      return key.isValidSignature(signature, for: bytes)
    }
  }

  private static func key(_ node: JSONNode) -> (IDToken.Algorithm, Key)? {
    if node["kty"]?.stringEquals("RSA") ?? false {
      return rsa(node).map { (.rs256, .rsa($0)) }
    }
    if node["kty"]?.stringEquals("EC") ?? false, node["crv"]?.stringEquals("P-256") ?? false {
      guard let x = bytes(node["x"]), let y = bytes(node["y"]), x.count == 32, y.count == 32 else {
        return nil
      }
      return (try? P256.Signing.PublicKey(rawRepresentation: x + y)).map { (.es256, .p256($0)) }
    }
    if node["kty"]?.stringEquals("OKP") ?? false, node["crv"]?.stringEquals("Ed25519") ?? false {
      return bytes(node["x"]).flatMap { try? Curve25519.Signing.PublicKey(rawRepresentation: $0) }
        .map { (.edDSA, .ed25519($0)) }
    }
    return nil
  }

  private static func rsa(_ node: JSONNode) -> _RSA.Signing.PublicKey? {
    guard let n = bytes(node["n"]), let e = bytes(node["e"]), let first = n.first,
      // A number has no zero before it (RFC 7518 section 2).
      first != 0, (2_048...8_192).contains(n.count * 8 - first.leadingZeroBitCount),
      // Four bytes, as much as the library takes, and odd, as every exponent is.
      e.count <= 4, e.reduce(0, { $0 << 8 | Int($1) }) >= 65_537,
      e.last.map({ $0 & 1 == 1 }) ?? false
    else { return nil }
    return try? _RSA.Signing.PublicKey(n: n, e: e)
  }

  private static func bytes(_ node: JSONNode?) -> [UInt8]? {
    node?.string.flatMap { Base64URL.decode($0.utf8) }
  }
}

/// The keys of a JSON Web Key Set (RFC 7517 section 5) that are understood.
struct IssuerKeySet: Sendable {
  /// The longest set, in bytes: some hundred keys with their certificates.
  static let limits = JSONLimits(maximumBytes: 256 * 1_024)
  /// The most keys that a set may have, understood or not.
  static let maximumKeys = 100

  private let keys: [IDToken.KeyName: IssuerKey]

  /// Reads a set. Keys that are not understood are passed over (RFC 7517 section 5); of several of one name and
  /// algorithm none counts. A set without keys is one: nothing is taken of its issuer then.
  /// - Throws: `issuerUnavailable` for what is no key set.
  init(_ bytes: [UInt8]) throws {
    guard let list = try? ParsedJSON(bytes, limits: Self.limits).root["keys"],
      list.kind == .array, list.count <= Self.maximumKeys
    else { throw ServiceError.issuerUnavailable("no key set") }
    let named = Dictionary(grouping: list.elements.compactMap(IssuerKey.init), by: \.name)
    keys = named.compactMapValues { $0.count == 1 ? $0.first : nil }
  }

  /// The key of a name.
  subscript(name: IDToken.KeyName) -> IssuerKey? { keys[name] }
}
