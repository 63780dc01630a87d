private import Crypto

/// A revision's id, `N-<digest>`: a generation, from 1, and a digest.
///
/// The digest is 32 lower-case hex digits if this project made the revision. A peer's digest may be any short
/// word (`1-a`), as CouchDB accepts with `new_edits=false`.
///
/// Source: CouchDB, "Replication and conflict model". The order is the one in which CouchDB chooses winners.
package struct RevisionID: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The highest generation. Every JSON reader reads integers up to this value exactly (RFC 8259, section 6).
  package static let maximumGeneration = 1 << 53
  /// The highest generation that a peer may send of a document with lower ones: as many as there are up to it can still
  /// follow, so that no revision of a peer ends the edits of a document.
  package static let maximumPeerGeneration = maximumGeneration / 2
  package static let maximumDigestBytes = 64

  /// The number of revisions from the first to this one.
  package let generation: Int
  /// The text after the first `-`.
  package let digest: RevisionDigest

  /// Creates an id from parts that are already checked.
  package init(generation: Int, digest: RevisionDigest) {
    self.generation = generation
    self.digest = digest
  }

  /// Creates an id from parts that are already checked.
  package init(generation: Int, digest: String) {
    self.init(generation: generation, digest: RevisionDigest(digest))
  }

  /// Reads `N-<digest>`.
  /// - Throws: ``DocumentError`` with code `invalidRevision`.
  package init(_ text: String) throws(DocumentError) {
    let bytes = text.utf8
    guard let dash = bytes.firstIndex(of: UInt8(ascii: "-")) else { throw Self.invalid }
    let number = bytes[..<dash]
    guard (1...16).contains(number.count), number.first != UInt8(ascii: "0"),
      number.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
      let generation = Int(Substring(number)), generation <= Self.maximumGeneration
    else { throw Self.invalid }
    self.generation = generation
    self.digest = try Self.checkedDigest(String(Substring(bytes[bytes.index(after: dash)...])))
  }

  /// Checks a digest as in `_revisions.ids`.
  /// - Throws: ``DocumentError`` with code `invalidRevision`.
  package static func checkedDigest(_ text: String) throws(DocumentError) -> RevisionDigest {
    let digest = RevisionDigest(text)
    guard case .word = digest else { return digest }
    let bytes = text.utf8
    guard (1...maximumDigestBytes).contains(bytes.count), bytes.allSatisfy(isDigestByte) else {
      throw invalid
    }
    // 32 hex digits are a hash. A hash is written in lower case only.
    guard bytes.count != 32 || !bytes.allSatisfy(isHexByte) else { throw invalid }
    return digest
  }

  /// Lower generation first, then lower digest by bytes. Of several leaves the last one wins.
  package static func < (left: RevisionID, right: RevisionID) -> Bool {
    left.generation != right.generation
      ? left.generation < right.generation : left.digest < right.digest
  }

  package var description: String { "\(generation)-\(digest.text)" }

  /// Appends the bytes of ``description``.
  package func append(to bytes: inout [UInt8]) {
    bytes += String(generation).utf8
    bytes.append(UInt8(ascii: "-"))
    digest.append(to: &bytes)
  }

  private static let invalid = DocumentError(.invalidRevision, "Invalid rev format")

  private static func isHexByte(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte) || (0x41...0x46).contains(byte)
  }

  /// Letters, digits, `-`, `.`, `_` and `~`, which are unreserved in RFC 3986: safe in a URL and in an ETag.
  private static func isDigestByte(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte) || (0x41...0x5A).contains(byte)
      || byte == 0x2D || byte == 0x2E || byte == 0x5F || byte == 0x7E
  }
}

extension JSONWriter {
  /// Writes a revision's digest as a string.
  package mutating func digest(_ value: RevisionDigest) {
    plainString { bytes in value.append(to: &bytes) }
  }

  /// Writes a revision's id as a string.
  package mutating func revision(_ value: RevisionID) {
    plainString { bytes in value.append(to: &bytes) }
  }
}

extension DocumentBody {
  /// The id of the revision that has this body and this parent. It is the same wherever it is computed.
  ///
  /// It is made from the first 16 bytes of a SHA-256 over: the byte 1; the byte 1 for a tombstone, otherwise
  /// 0; the parent's id as text, if there is a parent; the byte 0; the body's 32-byte ``digest``.
  package func revision(below parent: RevisionID?, isDeleted: Bool) -> RevisionID {
    var hash = SHA256()
    hash.update(data: [1, isDeleted ? 1 : 0])
    if let parent { hash.update(data: Array(parent.description.utf8)) }
    hash.update(data: [0])
    hash.update(data: digest)
    return RevisionID(
      generation: (parent?.generation ?? 0) + 1,
      digest: RevisionDigest(hash: hash.finalize()))
  }
}
