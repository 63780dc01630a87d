import Glibc

/// A text whose identity is its UTF-8 bytes: ids, names and keys.
///
/// `String ==` compares by canonical equivalence. With it a look-up of "e\u{301}" would find the entry of
/// "é".
package protocol ByteString: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The text; its UTF-8 bytes are the identity.
  var text: String { get }
}

// Inlinable, so that sets and dictionaries of other modules compare and hash without a call through a witness table.
extension ByteString {
  @inlinable package static func == (left: Self, right: Self) -> Bool {
    left.text.equalsBytes(of: right.text)
  }
  package static func < (left: Self, right: Self) -> Bool {
    left.text.precedesBytes(of: right.text)
  }
  @inlinable package func hash(into hasher: inout Hasher) { text.hashBytes(into: &hasher) }
  package var description: String { text }
}

extension String {
  /// Whether both texts have the same UTF-8 bytes.
  @inlinable package func equalsBytes(of other: String) -> Bool {
    guard utf8.count == other.utf8.count else { return false }
    // The bytes are compared as memory, because iterating two views takes a call for each byte.
    let isEqual = utf8.withContiguousStorageIfAvailable { own in
      other.utf8.withContiguousStorageIfAvailable { own.equalsBytes(of: $0) }
    }
    return isEqual.flatMap(\.self) ?? utf8.elementsEqual(other.utf8)
  }

  /// Whether this text's UTF-8 bytes sort before the other's.
  package func precedesBytes(of other: String) -> Bool {
    utf8.lexicographicallyPrecedes(other.utf8)
  }

  /// Hashes the UTF-8 bytes and their count.
  @inlinable package func hashBytes(into hasher: inout Hasher) {
    hasher.combine(utf8.count)
    let isHashed: Void? = utf8.withContiguousStorageIfAvailable {
      hasher.combine(bytes: UnsafeRawBufferPointer($0))
    }
    if isHashed == nil { utf8.forEach { hasher.combine($0) } }
  }
}

extension UnsafeBufferPointer<UInt8> {
  /// Whether both buffers, of the same length, have the same bytes.
  @usableFromInline package func equalsBytes(of other: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let start = baseAddress, let otherStart = other.baseAddress else { return true }
    return memcmp(start, otherStart, count) == 0
  }
}

extension [UInt8] {
  /// The offset at which others, at least one, begin; nil if they are not there. `firstRange(of:)` is generic and takes ten
  /// times as long.
  /// - Parameter start: where the search begins.
  package func offset(of others: [UInt8], from start: Int = 0) -> Int? {
    withUnsafeBytes { all in
      others.withUnsafeBytes { others in
        guard let base = all.baseAddress, let mark = others.baseAddress else { return nil }
        var offset = start
        while offset + others.count <= all.count {
          let rest = all.count - others.count + 1 - offset
          guard let found = memchr(base + offset, Int32(others[0]), rest) else { return nil }
          offset = UnsafeRawPointer(found) - base
          if memcmp(found, mark, others.count) == 0 { return offset }
          offset += 1
        }
        return nil
      }
    }
  }
}
