import Crypto

extension Hex {
  /// The first digits of the SHA-256 of a text's UTF-8 bytes: the same everywhere, and of the text nothing
  /// can be read from them.
  /// - Parameter count: how many digits, 64 at most.
  package static func digest(of text: String, digits count: Int) -> String {
    let all = string(Array(SHA256.hash(data: Array(text.utf8))))
    return String(Substring(all.utf8.prefix(count)))
  }
}
