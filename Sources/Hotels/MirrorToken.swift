import Documents
import Stores

/// The position of a client's copy in a store's changes. It is opaque to clients and stays valid across restarts. The
/// service rejects it when the store was created again or has forgotten revisions that the copy may have.
///
/// Format: `1.<sequence>.<purges>.<epoch>`, numbers in decimal, the epoch as 32 hexadecimal digits. In a store that
/// has forgotten old tombstones, the purges are `<purges>-<forgotten>`.
package struct MirrorToken: Sendable, Equatable, CustomStringConvertible {
  /// The longest token, in bytes.
  package static let maximumBytes = 128

  /// The sequence of the last change that the copy has; 0 for none.
  package let sequence: Int64
  /// How many purges the store had made by then.
  let purges: Int64
  /// The sequence of the last old tombstone that the store had forgotten by then; 0 for none.
  let forgotten: Int64
  /// The epoch of the store.
  let epoch: String
}

extension MirrorToken {
  /// The token of a sequence in a store's state.
  init(_ sequence: Int64, in view: any StoreView) throws {
    self.sequence = sequence
    purges = try view.purgeCount()
    forgotten = try view.purgeLog()?.forgotten ?? 0
    epoch = try view.info().epoch
  }

  /// The token of an absent store.
  static let absent = MirrorToken(
    sequence: 0, purges: 0, forgotten: 0, epoch: String(repeating: "0", count: 32))

  /// Reads a token; nil for any other text.
  package init?(_ text: String) {
    guard text.utf8.count <= Self.maximumBytes else { return nil }
    let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 4, parts[0].elementsEqual("1".utf8),
      let sequence = Self.number(parts[1]), parts[3].count == 32, Hex.bytes(parts[3]) != nil
    else { return nil }
    let counts = parts[2].split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    guard let purges = counts.first.flatMap(Self.number), counts.count <= 2 else { return nil }
    var forgotten: Int64 = 0
    if counts.count == 2 {
      guard let number = Self.number(counts[1]), number > 0 else { return nil }
      forgotten = number
    }
    self.init(
      sequence: sequence, purges: purges, forgotten: forgotten,
      epoch: String(decoding: parts[3], as: UTF8.self))
  }

  package var description: String {
    "1.\(sequence).\(purges)\(forgotten == 0 ? "" : "-\(forgotten)").\(epoch)"
  }

  /// The token of a later sequence in the same state.
  func moved(to sequence: Int64) -> MirrorToken {
    MirrorToken(sequence: sequence, purges: purges, forgotten: forgotten, epoch: epoch)
  }

  /// Whether the copy can continue from this token: the store has all changes up to the token's sequence, and has
  /// purged nothing since. Tombstones forgotten since must all be ones that the copy has read.
  func isGood(in view: any StoreView) throws -> Bool {
    let (info, log) = (try view.info(), try view.purgeLog())
    let forgotten = log?.forgotten ?? 0
    return info.hasReached(sequence) { epoch.equalsBytes(of: $0) }
      && purges == log?.count ?? 0
      && (self.forgotten == forgotten || sequence >= forgotten)
  }

  private static func number(_ digits: Substring.UTF8View) -> Int64? {
    guard (1...18).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }),
      digits.count == 1 || digits.first != 0x30
    else { return nil }
    return Int64(String(decoding: digits, as: UTF8.self))
  }
}
