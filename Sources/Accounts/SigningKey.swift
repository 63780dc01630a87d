import Documents
import FoundationEssentials
import JWTKit

/// One key that signs tokens: HMAC with SHA-256 (`HS256`, RFC 7518 section 3.2) under 256 random bits.
///
/// jwt-kit makes the algorithm from the key, so that a key is good for this one algorithm whatever a token's
/// header says. Its key collection is not asked for keys: it falls back to a default for an unknown `kid`.
struct SigningKey: Sendable, CustomStringConvertible, CustomReflectable {
  /// Bytes of a key.
  static let byteCount = 32

  /// What tokens name the key by.
  let id: KeyID
  /// The key in hex.
  let secret: Secret
  /// When the key was made.
  let created: Timestamp
  /// When tokens of this key stop working; nil for a key in use.
  let until: Timestamp?
  private let algorithm: any JWTAlgorithm

  /// A key by its parts; nil unless the secret is 256 bits in hex.
  init?(id: KeyID, secret: Secret, created: Timestamp, until: Timestamp?) async {
    guard let bytes = Hex.bytes(secret.exposed.utf8), bytes.count == Self.byteCount else {
      return nil
    }
    let keys = await JWTKeyCollection().add(hmac: HMACKey(from: bytes), digestAlgorithm: .sha256)
    guard let algorithm = try? await keys.getKey() else { return nil }
    self.init(id: id, secret: secret, created: created, until: until, algorithm: algorithm)
  }

  private init(
    id: KeyID, secret: Secret, created: Timestamp, until: Timestamp?, algorithm: any JWTAlgorithm
  ) {
    self.id = id
    self.secret = secret
    self.created = created
    self.until = until
    self.algorithm = algorithm
  }

  /// A new key of the system's random numbers.
  static func random(at now: Timestamp) async -> SigningKey? {
    var generator = SystemRandomNumberGenerator()
    let bytes = (0..<byteCount + 8).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    guard let id = KeyID(Hex.string(bytes.suffix(8))) else { return nil }
    return await SigningKey(
      id: id, secret: Secret(Hex.string(bytes.prefix(byteCount))), created: now, until: nil)
  }

  /// The same key, whose tokens stop working at a moment (or earlier, if that was said before).
  func retired(at moment: Timestamp) -> SigningKey {
    SigningKey(
      id: id, secret: secret, created: created, until: min(until ?? moment, moment),
      algorithm: algorithm)
  }

  /// Whether tokens of this key work at a moment.
  func isGood(at now: Timestamp) -> Bool { until.map { now < $0 } ?? true }

  /// The signature of some bytes; nil when the algorithm fails, which it has no way to.
  func signature(of bytes: [UInt8]) -> [UInt8]? { try? algorithm.sign(bytes) }

  /// Whether a signature is this key's, in time that does not tell where it differs.
  func isSignature(_ signature: [UInt8], of bytes: [UInt8]) -> Bool {
    signature.count == Self.byteCount
      && ((try? algorithm.verify(signature, signs: bytes)) ?? false)
  }

  var description: String { "SigningKey(\(id))" }
  var customMirror: Mirror { Mirror(self, children: ["id": id.text]) }
}
