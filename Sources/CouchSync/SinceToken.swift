import Documents
package import Stores

/// A position in a database's change feed, as clients keep it: `N-` and 16 hexadecimal digits. N is the sequence. The
/// first eight digits are the store's ``StoreTag``, so that a token of another database is recognised. The other eight
/// are the beginning of the store's epoch. They show that a token comes from an earlier store of the same name, or from
/// a store that was later restored from an older copy.
///
/// A client that keeps its position itself may send one of another database: after its guest became a user, or when it
/// synced with another server before. It then gets everything from the beginning, as from CouchDB. An error would stop
/// it for ever, because it sends the same position again.
///
/// PouchDB reads the number before the dash with `parseInt`; apart from that, clients treat the token as opaque.
/// Source: CouchDB, "/db/_changes: since".
package enum SinceToken: Sendable, Equatable {
  /// The beginning, `0`.
  case start
  /// The end at the time when the request is answered, `now`.
  case now
  /// After a change in the store with this tag and an epoch that begins with these digits.
  case after(Int64, tag: String, epoch: String)
  /// A position that no database of this service gave: a number, or digits and a dash before any text.
  case unknown

  /// The longest token, in bytes: 4 KiB. CouchDB's tokens grow with the number of shards.
  package static let maximumBytes = 4 << 10
  /// How many digits of the epoch a token contains.
  package static let epochDigits = 8

  /// The position of a token in the present store.
  package struct Position: Sendable, Equatable {
    /// The sequence of the last change that the client has seen; 0 for none.
    package let sequence: Int64
    /// Whether the token is not valid here, so that the feed starts again from the beginning: another database gave it,
    /// the store was erased and made again, or it no longer contains the change of the token.
    package let isRewound: Bool
  }

  /// Reads a token: `now`, digits, or digits and a dash before any text, also in quotation marks, as CouchDB's replicator
  /// sends it.
  /// - Throws: 400 `bad_request` for any other text, and for one of more than ``maximumBytes``.
  package init(_ text: String) throws {
    guard text.utf8.count <= Self.maximumBytes else { throw Self.malformed }
    var bytes = Substring(text).utf8
    if bytes.count >= 2, bytes.first == 0x22, bytes.last == 0x22 {
      bytes = bytes.dropFirst().dropLast()
    }
    if bytes.elementsEqual("0".utf8) {
      self = .start
    } else if bytes.elementsEqual("now".utf8) {
      self = .now
    } else {
      self = try Self.numbered(bytes)
    }
  }

  private static func numbered(_ bytes: Substring.UTF8View) throws -> SinceToken {
    let number = bytes.prefix { (0x30...0x39).contains($0) }
    let rest = bytes[number.endIndex...]
    guard !number.isEmpty, rest.isEmpty || rest.first == 0x2D else { throw malformed }
    let mark = rest.dropFirst()
    guard number.count == 1 || number.first != 0x30, let sequence = Int64(Substring(number)),
      mark.count == StoreTag.count + epochDigits, Hex.bytes(mark) != nil
    else { return .unknown }
    return .after(
      sequence, tag: String(Substring(mark.prefix(StoreTag.count))),
      epoch: String(Substring(mark.dropFirst(StoreTag.count))))
  }

  private static let malformed = ServiceError.badRequest(
    "Malformed sequence: `since` is `now`, a number, or a sequence that a database gave, "
      + "of at most \(maximumBytes) bytes")

  package static func at(_ sequence: Int64, in info: StoreInfo, of tag: StoreTag) -> SinceToken {
    .after(sequence, tag: tag.digits, epoch: prefix(of: info.epoch))
  }

  /// The position of the token in a store. A token of the store with sequence 0 is never rewound, because its client
  /// has seen no change.
  package func position(in info: StoreInfo, of store: StoreTag) -> Position {
    switch self {
    case .start: return Position(sequence: 0, isRewound: false)
    case .now: return Position(sequence: info.lastSequence, isRewound: false)
    case .after(let sequence, let tag, let epoch) where tag.equalsBytes(of: store.digits):
      let isKnown = info.hasReached(sequence) { epoch.equalsBytes(of: Self.prefix(of: $0)) }
      return Position(sequence: isKnown ? sequence : 0, isRewound: !isKnown && sequence > 0)
    case .after, .unknown: return Position(sequence: 0, isRewound: true)
    }
  }

  /// The token as clients see it; `0` for an unknown one.
  package var text: String {
    switch self {
    case .start, .unknown: "0"
    case .now: "now"
    case .after(let sequence, let tag, let epoch): "\(sequence)-\(tag)\(epoch)"
    }
  }

  /// What follows the sequence in the tokens of a store.
  static func suffix(of tag: StoreTag, in info: StoreInfo) -> [UInt8] {
    Array("-\(tag.digits)\(prefix(of: info.epoch))".utf8)
  }

  private static func prefix(of epoch: String) -> String {
    String(Substring(epoch.utf8.prefix(epochDigits)))
  }
}

/// The identifier of a store in the tokens that clients keep: the first digits of a hash of its name, so that a token
/// does not reveal the name. A store that is erased and made again, or restored, keeps its tag.
package struct StoreTag: Sendable, Equatable {
  /// The number of digits of a tag. The probability that two stores of one client share a tag is one in four thousand
  /// million.
  package static let count = 8

  package let digits: String

  /// Makes the tag of a store, whether the store exists or not.
  package init(_ name: StoreName) { digits = Hex.digest(of: name.key, digits: Self.count) }
}
