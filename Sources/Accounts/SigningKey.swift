import Crypto
import Documents

/// A key that signs tokens: HMAC with SHA-256 (`HS256`, RFC 7518 section 3.2) with 256 random bits. It is only used
/// with this algorithm, whatever a token's header says.
struct SigningKey: Sendable, CustomStringConvertible, CustomReflectable {
  static let byteCount = 32

  /// The id that tokens contain as `kid`.
  let id: KeyID
  /// The key in hexadecimal.
  let secret: Secret
  let created: Timestamp
  /// When tokens of this key become invalid; nil for the key in use.
  let until: Timestamp?
  private let key: SymmetricKey

  /// Makes a key; nil unless the secret is 256 bits in hexadecimal.
  init?(id: KeyID, secret: Secret, created: Timestamp, until: Timestamp?) {
    guard let bytes = Hex.bytes(secret.exposed.utf8), bytes.count == Self.byteCount else {
      return nil
    }
    (self.id, self.secret, self.created, self.until) = (id, secret, created, until)
    key = SymmetricKey(data: bytes)
  }

  private init(_ other: SigningKey, until: Timestamp) {
    (id, secret, created, key) = (other.id, other.secret, other.created, other.key)
    self.until = until
  }

  /// A new key from the system's random number generator.
  static func random(at now: Timestamp) -> SigningKey? {
    let bytes = (0..<byteCount + 8).map { _ in UInt8.random(in: .min ... .max) }
    guard let id = KeyID(Hex.string(bytes.suffix(8))) else { return nil }
    return SigningKey(
      id: id, secret: Secret(Hex.string(bytes.prefix(byteCount))), created: now, until: nil)
  }

  /// The same key, whose tokens become invalid at a given time, or earlier if the key was replaced before.
  func retired(at moment: Timestamp) -> SigningKey {
    SigningKey(self, until: min(until ?? moment, moment))
  }

  /// Whether tokens of this key are valid at a given time.
  func isGood(at now: Timestamp) -> Bool { until.map { now < $0 } ?? true }

  func signature(of bytes: [UInt8]) -> [UInt8] {
    Array(HMAC<SHA256>.authenticationCode(for: bytes, using: key))
  }

  /// Whether a signature is this key's. The time of the comparison does not reveal where it differs.
  func isSignature(_ signature: [UInt8], of bytes: [UInt8]) -> Bool {
    HMAC<SHA256>.isValidAuthenticationCode(signature, authenticating: bytes, using: key)
  }

  var description: String { "SigningKey(\(id))" }
  var customMirror: Mirror { Mirror(self, children: ["id": id.text]) }
}

/// The id of a key in a token's header (`kid`): 16 lower-case hexadecimal digits. It is compared byte by byte and
/// only used to find one of the service's own keys.
package struct KeyID: ByteString {
  /// The digits.
  package let text: String

  /// Makes an id; nil for anything but 16 lower-case hexadecimal digits.
  package init?(_ text: String) {
    guard text.utf8.count == 16, Hex.bytes(text.utf8) != nil else { return nil }
    self.text = text
  }
}
