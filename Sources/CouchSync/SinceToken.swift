import Documents
package import Stores

/// A place in a database's feed of changes, as clients keep it: `N-` and 16 hex digits. N is the sequence
/// number. Eight digits are the store's ``StoreTag``, so that a token of another database is refused. Eight
/// begin the store's epoch, so that a number of an earlier store of the same name, or of a copy that was set
/// back, is known for what it is.
///
/// PouchDB reads the number before the dash with `parseInt`; else clients treat the token as opaque.
/// Source: CouchDB, "/db/_changes: since".
package enum SinceToken: Sendable, Equatable {
  /// The beginning, `0`.
  case start
  /// The end as it is when the request is answered, `now`.
  case now
  /// After a change of the store with this tag and an epoch that begins so.
  case after(Int64, tag: String, epoch: String)

  /// The longest token, in bytes.
  package static let maximumBytes = 128
  /// Digits of the epoch that a token carries.
  package static let epochDigits = 8

  /// Where a token leads in the store as it is.
  package struct Position: Sendable, Equatable {
    /// The last change that the client has seen, 0 for none.
    package let sequence: Int64
    /// Whether the token is of no use here any more, so that the feed starts over: its store was erased and
    /// made again, or has lost the future that the token is of.
    package let isRewound: Bool
  }

  /// Reads a token: `0`, `now` or `N-<16 hex digits>`, also in quotation marks, as CouchDB's replicator
  /// sends it.
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

  /// The token of a place in a store.
  package static func at(_ sequence: Int64, in info: StoreInfo, of tag: StoreTag) -> SinceToken {
    .after(sequence, tag: tag.digits, epoch: prefix(of: info.epoch))
  }

  /// Checks that the token is of a store.
  /// - Throws: 400 `bad_request` for the token of another.
  package func check(isOf store: StoreTag) throws {
    guard case .after(_, let tag, _) = self, !tag.equalsBytes(of: store.digits) else { return }
    throw ServiceError.badRequest("Malformed sequence: `since` is of another database")
  }

  /// Where the token leads in its store. A client that has seen nothing has lost nothing.
  package func position(in info: StoreInfo) -> Position {
    switch self {
    case .start: return Position(sequence: 0, isRewound: false)
    case .now: return Position(sequence: info.lastSequence, isRewound: false)
    case .after(let sequence, _, let epoch):
      let isKnown =
        epoch.equalsBytes(of: Self.prefix(of: info.epoch)) && sequence <= info.lastSequence
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

  private static func prefix(of epoch: String) -> String {
    String(Substring(epoch.utf8.prefix(epochDigits)))
  }
}

/// What names a store in the tokens that clients keep: the first digits of a hash of its name, so that a
/// token tells nothing. A store that is erased and made again, or restored, keeps its tag.
package struct StoreTag: Sendable, Equatable {
  /// Digits of a tag. Two stores of one client share a tag once in four thousand million.
  package static let count = 8

  /// The digits.
  package let digits: String

  /// The tag of a store, whether it has been made or not.
  package init(_ name: StoreName) {
    digits = Hex.digest(of: name.key, digits: Self.count)
  }
}
