import Glibc

/// A text whose identity is its UTF-8 bytes: ids, names and keys.
///
/// `String ==` compares by canonical equivalence. With it a look-up of "e\u{301}" would find the entry of
/// "é".
package protocol ByteString: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The text; its UTF-8 bytes are the identity.
  var text: String { get }
}

extension ByteString {
  package static func == (left: Self, right: Self) -> Bool { left.text.equalsBytes(of: right.text) }
  package static func < (left: Self, right: Self) -> Bool {
    left.text.precedesBytes(of: right.text)
  }
  package func hash(into hasher: inout Hasher) { text.hashBytes(into: &hasher) }
  package var description: String { text }
}

extension String {
  /// Whether both texts have the same UTF-8 bytes.
  package func equalsBytes(of other: String) -> Bool {
    guard utf8.count == other.utf8.count else { return false }
    var (own, other) = (self, other)
    // The bytes are compared as memory, because iterating two views takes a call for each byte.
    return own.withUTF8 { own in
      other.withUTF8 { other in
        guard let start = own.baseAddress, let otherStart = other.baseAddress else { return true }
        return memcmp(start, otherStart, own.count) == 0
      }
    }
  }

  /// Whether this text's UTF-8 bytes sort before the other's.
  package func precedesBytes(of other: String) -> Bool {
    utf8.lexicographicallyPrecedes(other.utf8)
  }

  /// Hashes the UTF-8 bytes and their count.
  package func hashBytes(into hasher: inout Hasher) {
    var text = self
    text.withUTF8 { bytes in
      hasher.combine(bytes.count)
      hasher.combine(bytes: UnsafeRawBufferPointer(bytes))
    }
  }
}
