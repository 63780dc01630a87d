import Documents
package import Stores

/// A place in a database's feed of changes, as clients keep it: `N-<epoch>`, the sequence number and the
/// first digits of the store's epoch, so that a number of an earlier store of the same name, or of a copy
/// that was set back, is known for what it is.
///
/// PouchDB reads the number before the dash with `parseInt`; else clients treat the token as opaque.
/// Source: CouchDB, "/db/_changes: since".
package enum SinceToken: Sendable, Equatable {
  /// The beginning, `0`.
  case start
  /// The end as it is when the request is answered, `now`.
  case now
  /// After a change of the store whose epoch begins so.
  case after(Int64, epoch: String)

  /// The longest token, in bytes.
  package static let maximumBytes = 128
  /// Digits of the epoch that a token carries.
  package static let epochDigits = 16

  /// Where a token leads in the store as it is.
  package struct Position: Sendable, Equatable {
    /// The last change that the client has seen, 0 for none.
    package let sequence: Int64
    /// Whether the token is of no use here, so that the feed starts over: it is of another store, or of a
    /// future that this store has lost.
    package let isRewound: Bool
  }

  /// Reads a token: `0`, `now` or `N-<16 hex digits>`, also in quotation marks, as CouchDB's replicator
  /// sends it.
  /// - Throws: 400 `bad_request` for any other text.
  package init(_ text: String) throws(CouchError) {
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

  private static func numbered(_ bytes: Substring.UTF8View) throws(CouchError) -> SinceToken {
    guard let dash = bytes.firstIndex(of: 0x2D) else { throw malformed }
    let number = bytes[..<dash]
    let epoch = bytes[bytes.index(after: dash)...]
    guard (1...19).contains(number.count), number.allSatisfy({ (0x30...0x39).contains($0) }),
      number.count == 1 || number.first != 0x30, let sequence = Int64(Substring(number)),
      epoch.count == epochDigits, Hex.bytes(epoch) != nil
    else { throw malformed }
    return .after(sequence, epoch: String(Substring(epoch)))
  }

  private static let malformed = CouchError.badRequest(
    "Malformed sequence: `since` is `0`, `now` or a sequence that this database gave")

  /// The token of a place in a store.
  package static func at(_ sequence: Int64, in info: StoreInfo) -> SinceToken {
    .after(sequence, epoch: prefix(of: info.epoch))
  }

  /// Where the token leads in a store.
  package func position(in info: StoreInfo) -> Position {
    switch self {
    case .start: Position(sequence: 0, isRewound: false)
    case .now: Position(sequence: info.lastSequence, isRewound: false)
    case .after(let sequence, let epoch):
      epoch.equalsBytes(of: Self.prefix(of: info.epoch)) && sequence <= info.lastSequence
        ? Position(sequence: sequence, isRewound: false)
        : Position(sequence: 0, isRewound: true)
    }
  }

  /// The token as clients see it.
  package var text: String {
    switch self {
    case .start: "0"
    case .now: "now"
    case .after(let sequence, let epoch): "\(sequence)-\(epoch)"
    }
  }

  private static func prefix(of epoch: String) -> String {
    String(Substring(epoch.utf8.prefix(epochDigits)))
  }
}
