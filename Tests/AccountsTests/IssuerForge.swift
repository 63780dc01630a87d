import Crypto
import CryptoExtras
import Documents
import Foundation
import Stores
import Synchronization
import TestSupport

@testable import Accounts

/// A token issuer with a key of each kind, which can also make any forged token.
struct IssuerForge: Sendable {
  static let url = "https://issuer.example/realm"
  static let trusted = TrustedIssuer(
    url: url, audiences: ["app", "web"], keysURL: url + "/keys")

  let rsa: _RSA.Signing.PrivateKey
  let p256 = P256.Signing.PrivateKey()
  let ed25519 = Curve25519.Signing.PrivateKey()
  let now: Int64

  init(at now: Timestamp = TestClock().now) throws {
    rsa = try _RSA.Signing.PrivateKey(keySize: .bits2048)
    self.now = now.seconds
  }

  /// A key as JSON, by its algorithm's name.
  func key(_ algorithm: String, kid: String? = nil, _ changes: [String: String?] = [:]) -> String {
    var members: [String: String?] = ["kid": quote(kid ?? algorithm), "use": quote("sig")]
    switch algorithm {
    case "RS256":
      let numbers = try? rsa.publicKey.getKeyPrimitives()
      members["kty"] = quote("RSA")
      members["n"] = quote(encode(Array(numbers?.modulus ?? Data())))
      members["e"] = quote(encode(Array(numbers?.publicExponent ?? Data())))
    case "ES256":
      let point = Array(p256.publicKey.rawRepresentation)
      (members["kty"], members["crv"]) = (quote("EC"), quote("P-256"))
      (members["x"], members["y"]) = (
        quote(encode(point.prefix(32))), quote(encode(point.suffix(32)))
      )
    default:
      (members["kty"], members["crv"]) = (quote("OKP"), quote("Ed25519"))
      members["x"] = quote(encode(Array(ed25519.publicKey.rawRepresentation)))
    }
    return object(members.merging(changes) { $1 })
  }

  func keySet(_ keys: [String]) -> [UInt8] {
    Array(#"{"keys":[\#(keys.joined(separator: ","))]}"#.utf8)
  }

  var keys: [UInt8] { keySet(["RS256", "ES256", "EdDSA"].map { key($0) }) }

  /// A token with a correct signature by the key of an algorithm. Parts of it can be changed; values are JSON text.
  func token(
    _ algorithm: String = "ES256", subject: String = "somebody", header: [String: String?] = [:],
    claims: [String: String?] = [:]
  ) -> String {
    let head = ["alg": quote(algorithm), "kid": quote(algorithm), "typ": quote("JWT")]
      .merging(header) { $1 }
    let body = [
      "iss": quote(Self.url), "aud": quote("app"), "sub": quote(subject), "iat": "\(now)",
      "exp": "\(now + 300)", "email": quote("victim@example.com"), "name": quote("victim"),
    ].merging(claims) { $1 }
    let signed = encode(Array(object(head).utf8)) + "." + encode(Array(object(body).utf8))
    return signed + "." + encode(signature(of: Array(signed.utf8), algorithm))
  }

  func quote(_ text: String) -> String? { JSONValue.string(text).text }

  /// Bytes in base64url.
  func encode(_ bytes: some Sequence<UInt8>) -> String {
    var output: [UInt8] = []
    Base64URL.append(Array(bytes), to: &output)
    return String(decoding: output, as: UTF8.self)
  }

  private func signature(of bytes: [UInt8], _ algorithm: String) -> [UInt8] {
    switch algorithm {
    case "RS256":
      let digest = SHA256.hash(data: bytes)
      return (try? rsa.signature(for: digest, padding: .insecurePKCS1v1_5)).map {
        Array($0.rawRepresentation)
      } ?? []
    case "ES256":
      return (try? p256.signature(for: bytes)).map { Array($0.rawRepresentation) } ?? []
    default: return (try? ed25519.signature(for: bytes)).map { Array($0) } ?? []
    }
  }

  private func object(_ members: [String: String?]) -> String {
    // Sorted, because a dictionary's order is random: equal claims make equal tokens.
    let parts = members.sorted { $0.key < $1.key }.compactMap { name, value in
      value.map { "\"\(name)\":\($0)" }
    }
    return "{" + parts.joined(separator: ",") + "}"
  }
}

extension JSONValue {
  fileprivate var text: String { String(decoding: bytes, as: UTF8.self) }
}

/// An issuer's web site in memory: documents by URL. It counts requests. Without documents it is unavailable.
final class IssuerSite: IssuerDocuments {
  private struct State {
    var documents: [String: [UInt8]]
    var asked: [String] = []
    var failures: [ServiceError] = []
    var isHeld = false
  }

  private let state: Mutex<State>

  init(_ documents: [String: [UInt8]]) { state = Mutex(State(documents: documents)) }

  /// A site with a key set at the URL that ``IssuerForge/trusted`` names.
  convenience init(keys: [UInt8]) { self.init([IssuerForge.url + "/keys": keys]) }

  /// The requested URLs, in order.
  var asked: [String] { state.withLock { $0.asked } }
  /// The errors of failed requests for keys, in order.
  var failures: [ServiceError] { state.withLock { $0.failures } }

  func publish(_ documents: [String: [UInt8]]) { state.withLock { $0.documents = documents } }
  /// Replaces the key set.
  func publish(keys: [UInt8]) { publish([IssuerForge.url + "/keys": keys]) }
  /// Holds answers back, or sends them.
  func hold(_ isHeld: Bool) { state.withLock { $0.isHeld = isHeld } }

  func document(at url: String, of issuer: TrustedIssuer) async throws -> [UInt8] {
    state.withLock { $0.asked.append(url) }
    while state.withLock({ $0.isHeld }) { try? await Task.sleep(for: .milliseconds(1)) }
    guard let document = state.withLock({ $0.documents[url] }) else {
      throw ServiceError.issuerUnavailable("down")
    }
    return document
  }

  func report(_ error: any Error, of issuer: TrustedIssuer) {
    guard let error = ServiceError(error) else { return }
    state.withLock { $0.failures.append(error) }
  }
}
