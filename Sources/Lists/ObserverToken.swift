import Accounts
import Documents
import Stores

/// An observer's position in each store that it observes. A client sends it back as `Last-Event-ID`.
///
/// It is base64url of a version byte, the position in the own store, and for each list its id and the position
/// there, at most ``maximumBytes`` long. A position is three bytes of the store's epoch, followed by the sequence
/// number as LEB128.
package struct ObserverToken: Sendable, Equatable {
  package static let maximumBytes = 10_240
  private static let version: UInt8 = 1

  struct Position: Sendable, Equatable {
    /// Three bytes of the store's epoch; zeros for an absent store.
    let epoch: [UInt8]
    /// The sequence of the last change that was reported.
    var sequence: Int64

    static let absent = Position(epoch: [0, 0, 0], sequence: 0)

    init(epoch: [UInt8], sequence: Int64) { (self.epoch, self.sequence) = (epoch, sequence) }

    /// The position after a store's last change.
    init(_ info: StoreInfo) { self.init(epoch: Self.epoch(of: info), sequence: info.lastSequence) }

    /// Whether a store's state does not continue from this position: a backup was restored, or another store has
    /// replaced it.
    func isRewound(in info: StoreInfo) -> Bool {
      guard sequence > 0 else { return false }
      return !info.hasReached(sequence) { epoch == Self.prefix(of: $0) }
    }

    static func epoch(of info: StoreInfo) -> [UInt8] { prefix(of: info.epoch) }

    private static func prefix(of epoch: String) -> [UInt8] {
      Array((Hex.bytes(epoch.utf8) ?? []).prefix(3))
        + [0, 0, 0].dropFirst(min(3, epoch.utf8.count / 2))
    }
  }

  var own: Position
  var lists: [AccountID: Position]

  init(own: Position, lists: [AccountID: Position] = [:]) { (self.own, self.lists) = (own, lists) }

  /// Reads a token as ``text`` wrote it; nil for any other text.
  package init?(_ text: String) {
    guard text.utf8.count <= Self.maximumBytes, let bytes = Base64URL.decode(text.utf8),
      bytes.first == Self.version
    else { return nil }
    var rest = bytes.dropFirst()
    guard let own = Self.position(&rest) else { return nil }
    self.init(own: own)
    while !rest.isEmpty {
      guard rest.count >= 16, let list = AccountID(Hex.string(Array(rest.prefix(16)))) else {
        return nil
      }
      rest = rest.dropFirst(16)
      guard let position = Self.position(&rest), lists.count < ListLimits.perAccount else {
        return nil
      }
      lists[list] = position
    }
  }

  package var text: String {
    var bytes = [Self.version]
    Self.append(own, to: &bytes)
    for (list, position) in lists.sorted(by: { $0.key.text < $1.key.text }) {
      bytes += Hex.bytes(list.text.utf8) ?? []
      Self.append(position, to: &bytes)
    }
    var text: [UInt8] = []
    Base64URL.append(bytes, to: &text)
    return String(decoding: text, as: UTF8.self)
  }

  private static func append(_ position: Position, to bytes: inout [UInt8]) {
    bytes += position.epoch
    var rest = UInt64(max(0, position.sequence))
    while rest >= 0x80 {
      bytes.append(UInt8(rest & 0x7F) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  private static func position(_ rest: inout ArraySlice<UInt8>) -> Position? {
    guard rest.count >= 4 else { return nil }
    let epoch = Array(rest.prefix(3))
    rest = rest.dropFirst(3)
    var (sequence, shift) = (UInt64(0), UInt64(0))
    while let byte = rest.popFirst() {
      guard shift < 63 else { return nil }
      sequence |= UInt64(byte & 0x7F) << shift
      shift += 7
      if byte & 0x80 == 0 { return Position(epoch: epoch, sequence: Int64(clamping: sequence)) }
    }
    return nil
  }
}
