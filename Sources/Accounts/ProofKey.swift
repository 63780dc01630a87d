import Crypto
import FoundationEssentials

/// The key of a cached proof: 256 bits from which neither token nor password can be recovered.
struct ProofKey: Sendable, Hashable {
  private let words: (UInt64, UInt64, UInt64, UInt64)

  /// The SHA-256 of a token.
  init(token: String) {
    var token = token
    var hash = SHA256()
    token.withUTF8 { hash.update(bufferPointer: UnsafeRawBufferPointer($0)) }
    self.init(hash.finalize())
  }

  /// The HMAC of a name and a password, with a key that only this process has. A plain hash of a password could be
  /// guessed from a memory dump.
  init(name: UserName, password: [UInt8], under key: SymmetricKey) {
    var hash = HMAC<SHA256>(key: key)
    hash.update(data: Array("\(name.key.utf8.count):".utf8))
    hash.update(data: Array(name.key.utf8))
    hash.update(data: password)
    self.init(hash.finalize())
  }

  /// - Parameter digest: 32 bytes.
  private init(_ digest: some ContiguousBytes) {
    words = digest.withUnsafeBytes { bytes in
      func word(_ index: Int) -> UInt64 {
        bytes.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self)
      }
      return (word(0), word(1), word(2), word(3))
    }
  }

  static func == (left: ProofKey, right: ProofKey) -> Bool { left.words == right.words }

  func hash(into hasher: inout Hasher) { hasher.combine(words.0) }
}
