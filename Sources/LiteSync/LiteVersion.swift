import Documents

/// A version of Couchbase Lite 4: a time and its maker, `18ea3c…@dGhlIG1ha2VyIG9mIGl0`.
///
/// A revision that such a client makes has a digest that contains the version: 16 digits of the time and 32 of the maker.
/// So the version needs no place of its own, replicates with the document, and other clients see lower-case hexadecimal
/// digits as usual. A revision of any other origin is a version of the maker ``tree``: its generation and the first ten
/// digits of its digest, or zeros behind fewer, are the time. LiteCore uses the same form for the revisions of trees that it
/// upgrades.
struct LiteVersion: Hashable, Sendable {
  /// The maker of the versions that stand for revisions of trees, as LiteCore calls it.
  static let treeMaker = "Revision+Tree+Encoding"
  /// The digits of a digest that such a version has.
  static let treeDigits = 10

  let time: UInt64
  /// 16 bytes, in Base64 without padding.
  let maker: String

  /// Reads a version; nil for any other text. A maker of zeros means the reader itself.
  init?(_ text: String) {
    let parts = text.utf8.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
    guard parts.count == 2, (1...16).contains(parts[0].count),
      parts[0].allSatisfy(Self.isDigit), let time = UInt64(String(Substring(parts[0])), radix: 16),
      time > 0, Self.isMaker(parts[1])
    else { return nil }
    (self.time, maker) = (time, String(Substring(parts[1])))
  }

  /// The version of a revision.
  init(_ revision: RevisionID) {
    let digits: UInt64
    switch revision.digest {
    // Most revisions, so without a text: 40 bits are the first ten digits.
    case .hash(let high, _): digits = high >> 24
    case .word(let text):
      if let version = Self(digest: text) {
        self = version
        return
      }
      let known = LiteRevision.digest(of: revision).utf8.prefix(Self.treeDigits)
      let zeros = 4 * UInt64(Self.treeDigits - known.count)
      digits = (UInt64(String(Substring(known)), radix: 16) ?? 0) << zeros
    }
    // Generations have more bits than the time leaves them, but no client reaches those.
    time = UInt64(revision.generation) << 40 | digits
    maker = Self.treeMaker
  }

  /// A version of a tree's revision that is newer than another one. It grows with the generation, as the usual one.
  init(_ revision: RevisionID, above time: UInt64) {
    let generation = UInt64(revision.generation)
    self.time = max(generation << 40, time) &+ generation
    maker = Self.treeMaker
  }

  /// Reads the version from a digest that contains one.
  private init?(digest: String) {
    guard digest.utf8.count == 48, let bytes = Hex.bytes(digest.utf8) else { return nil }
    time = bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    maker = String(Substring(Base64.string(Array(bytes.dropFirst(8))).utf8.prefix(22)))
    guard time > 0, !isTree, bytes.dropFirst(8).contains(where: { $0 != 0 }) else { return nil }
  }

  /// Whether it stands for a revision of a tree.
  var isTree: Bool { maker.utf8.elementsEqual(Self.treeMaker.utf8) }

  var text: String { String(time, radix: 16) + "@" + maker }

  /// The digest of the revision that this version becomes.
  var digest: RevisionDigest {
    var bytes = Base64.bytes(Array((maker + "==").utf8)) ?? []
    withUnsafeBytes(of: time.bigEndian) { bytes.insert(contentsOf: $0, at: 0) }
    return RevisionDigest(Hex.string(bytes))
  }

  /// The revision that this version becomes as the child of another one. A client that kept a revision of a tree in a conflict
  /// sends it as a version of ``treeMaker``. The rest of its digest is not known: a hash stands for it. It keeps its generation
  /// if that is above the parent's: the client would take all later ones of a lower generation for older ones.
  /// - Parameter most: how many generations may be between the two.
  func revision(below parent: RevisionID?, gap most: Int = .max) -> RevisionID {
    let next = (parent?.generation ?? 0) + 1
    guard isTree else { return RevisionID(generation: next, digest: digest) }
    let own = Int(time >> 40)
    let digits = String(time & 0xFF_FFFF_FFFF, radix: 16)
    let zeros = String(repeating: "0", count: Self.treeDigits - digits.utf8.count)
    return RevisionID(
      generation: parent != nil && own - next > most ? next : max(next, own),
      digest: RevisionDigest(zeros + digits + Hex.digest(of: text, digits: 22)))
  }

  /// Whether a text is Base64 of 16 bytes that are not all zero. Of the last character only the upper two bits are used.
  /// Checked by hand, because a client may send a thousand, and decoding costs ten times as much.
  private static func isMaker(_ text: Substring.UTF8View) -> Bool {
    let zero = UInt8(ascii: "A")
    return text.count == 22 && text.last.map { "AQgw".utf8.contains($0) } ?? false
      && text.contains { $0 != zero }
      && text.allSatisfy { byte in
        switch byte {
        case 0x41...0x5A, 0x61...0x7A, 0x30...0x39, UInt8(ascii: "+"), UInt8(ascii: "/"): true
        default: false
        }
      }
  }

  static func isDigit(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte)
  }
}
