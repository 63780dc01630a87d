import Documents
package import Stores

/// A position in a database's change feed, as clients keep it: `N-` and 16 hexadecimal digits. N is the sequence. The
/// first eight digits are the store's ``StoreTag``, so that a token of another database is refused. The other eight are
/// the beginning of the store's epoch. They show that a token comes from an earlier store of the same name, or from a
/// store that was later restored from an older copy.
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

  /// The longest token, in bytes.
  package static let maximumBytes = 128
  /// How many digits of the epoch a token contains.
  package static let epochDigits = 8

  /// The position of a token in the present store.
  package struct Position: Sendable, Equatable {
    /// The sequence of the last change that the client has seen; 0 for none.
    package let sequence: Int64
    /// Whether the token is no longer valid, so that the feed starts again from the beginning: the store was erased and
    /// made again, or no longer contains the change of the token.
    package let isRewound: Bool
  }

  /// Reads a token: `0`, `now` or `N-<16 hex digits>`, also in quotation marks, as CouchDB's replicator sends it.
  /// - Throws: 400 `bad_request` for any other text.
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
    guard let dash = bytes.firstIndex(of: 0x2D) else { throw malformed }
    let number = bytes[..<dash]
    let mark = bytes[bytes.index(after: dash)...]
    guard (1...19).contains(number.count), number.allSatisfy({ (0x30...0x39).contains($0) }),
      number.count == 1 || number.first != 0x30, let sequence = Int64(Substring(number)),
      mark.count == StoreTag.count + epochDigits, Hex.bytes(mark) != nil
    else { throw malformed }
    return .after(
      sequence, tag: String(Substring(mark.prefix(StoreTag.count))),
      epoch: String(Substring(mark.dropFirst(StoreTag.count))))
  }

  private static let malformed = ServiceError.badRequest(
    "Malformed sequence: `since` is `0`, `now` or a sequence that this database gave")

  /// The token of a position in a store.
  package static func at(_ sequence: Int64, in info: StoreInfo, of tag: StoreTag) -> SinceToken {
    .after(sequence, tag: tag.digits, epoch: prefix(of: info.epoch))
  }

  /// Checks that the token belongs to a store.
  /// - Throws: 400 `bad_request` for the token of another store.
  package func check(isOf store: StoreTag) throws {
    guard case .after(_, let tag, _) = self, !tag.equalsBytes(of: store.digits) else { return }
    throw ServiceError.badRequest("Malformed sequence: `since` is of another database")
  }

  /// The position of the token in its store. A token of sequence 0 is never rewound, because its client has seen no
  /// change.
  package func position(in info: StoreInfo) -> Position {
    switch self {
    case .start: return Position(sequence: 0, isRewound: false)
    case .now: return Position(sequence: info.lastSequence, isRewound: false)
    case .after(let sequence, _, let epoch):
      let isKnown = info.hasReached(sequence) { epoch.equalsBytes(of: Self.prefix(of: $0)) }
      return Position(sequence: isKnown ? sequence : 0, isRewound: !isKnown && sequence > 0)
    }
  }

  /// The token as clients see it.
  package var text: String {
    switch self {
    case .start: "0"
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

  /// The digits.
  package let digits: String

  /// Makes the tag of a store, whether the store exists or not.
  package init(_ name: StoreName) {
    digits = Hex.digest(of: name.key, digits: Self.count)
  }
}
