import Documents
import Stores

/// How far somebody's copy of a store has come: opaque to clients, good across restarts, and known for
/// outdated when the store is another one now or has forgotten revisions.
///
/// `1.<sequence>.<purges>.<epoch>`, numbers in decimal, the epoch as 32 hex digits.
package struct MirrorToken: Sendable, Equatable, CustomStringConvertible {
  /// The longest token, in bytes.
  package static let maximumBytes = 128

  /// The last change that the copy has, 0 for none.
  let sequence: Int64
  /// How often the store had forgotten revisions by then.
  let purges: Int64
  /// Which store it is a copy of.
  let epoch: String

  /// The token of a place in a store's state.
  init(_ sequence: Int64, in view: any StoreView) throws(StoreError) {
    self.sequence = sequence
    purges = try view.purgeCount()
    epoch = try view.info().epoch
  }

  /// The token of a store that is not there.
  static let absent = MirrorToken(
    sequence: 0, purges: 0, epoch: String(repeating: "0", count: 32))

  private init(sequence: Int64, purges: Int64, epoch: String) {
    self.sequence = sequence
    self.purges = purges
    self.epoch = epoch
  }

  /// Reads a token; nil for any other text.
  package init?(_ text: String) {
    guard text.utf8.count <= Self.maximumBytes else { return nil }
    let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 4, parts[0].elementsEqual("1".utf8),
      let sequence = Self.number(parts[1]), let purges = Self.number(parts[2]),
      parts[3].count == 32, Hex.bytes(parts[3]) != nil
    else { return nil }
    self.init(
      sequence: sequence, purges: purges, epoch: String(decoding: parts[3], as: UTF8.self))
  }

  package var description: String { "1.\(sequence).\(purges).\(epoch)" }

  /// The token of a later place in the same state.
  func moved(to sequence: Int64) -> MirrorToken {
    MirrorToken(sequence: sequence, purges: purges, epoch: epoch)
  }

  /// Whether the store can go on from here: it is the same one, has forgotten nothing since and has not lost
  /// what the copy has.
  func isGood(in view: any StoreView) throws(StoreError) -> Bool {
    let (info, purges) = (try view.info(), try view.purgeCount())
    return epoch.equalsBytes(of: info.epoch) && sequence <= info.lastSequence
      && self.purges == purges
  }

  private static func number(_ digits: Substring.UTF8View) -> Int64? {
    guard (1...18).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }),
      digits.count == 1 || digits.first != 0x30
    else { return nil }
    return Int64(String(decoding: digits, as: UTF8.self))
  }
}
