import Crypto
import CryptoExtras
import Documents
import FoundationEssentials

/// A public key of another issuer: a JSON Web Key (RFC 7517). It is only used with one algorithm, whatever a
/// token's header says.
///
/// Accepted are RSA keys of 2,048 to 8,192 bits with a public exponent of at least 65,537, P-256 and Ed25519.
struct IssuerKey: Sendable {
  private enum Key: Sendable {
    case rsa(_RSA.Signing.PublicKey)
    case p256(P256.Signing.PublicKey)
    case ed25519(Curve25519.Signing.PublicKey)
  }

  /// The name by which tokens refer to it.
  let name: IDToken.KeyName
  private let key: Key

  /// Reads a key; nil for a key that has another type, another use or algorithm, or no name, that is too weak, not
  /// on its curve, or contains its private part.
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

  func isSignature(_ signature: [UInt8], of bytes: [UInt8]) -> Bool {
    switch key {
    case .rsa(let key):
      // RFC 7518 section 3.3 requires this padding.
      return key.isValidSignature(
        .init(rawRepresentation: signature), for: SHA256.hash(data: bytes),
        padding: .insecurePKCS1v1_5)
    case .p256(let key):
      let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature)
      return signature.map { key.isValidSignature($0, for: bytes) } ?? false
    case .ed25519(let key): return key.isValidSignature(signature, for: bytes)
    }
  }

  private static func key(_ node: JSONNode) -> (IDToken.Algorithm, Key)? {
    if node["kty"]?.stringEquals("RSA") ?? false { return rsa(node).map { (.rs256, .rsa($0)) } }
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
      // A number has no leading zero (RFC 7518 section 2).
      first != 0, (2_048...8_192).contains(n.count * 8 - first.leadingZeroBitCount),
      // At most four bytes, which is the library's limit, and odd, as every exponent is.
      e.count <= 4, e.reduce(0, { $0 << 8 | Int($1) }) >= 65_537,
      e.last.map({ $0 & 1 == 1 }) ?? false
    else { return nil }
    return try? _RSA.Signing.PublicKey(n: n, e: e)
  }

  private static func bytes(_ node: JSONNode?) -> [UInt8]? {
    node?.string.flatMap { Base64URL.decode($0.utf8) }
  }
}
