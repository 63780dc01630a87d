import Documents

/// Counts the bytes that a request writes to a guest's store for the address that the request came from, while the guest
/// is new. Without it, the limit of a store would be no limit, because guests are free.
package struct WriteMeter: Sendable {
  /// What a store's first commit counts besides its bytes: an empty store takes 16 KiB.
  static let storeBytes: Int64 = 16 << 10
  /// What each document or local document counts besides its bytes, for its row.
  static let rowBytes: Int64 = 256

  private let admit: @Sendable () throws -> Void
  private let count: @Sendable (_ bytes: Int64) -> Void

  /// Creates a meter.
  /// - Parameter admit: throws when no further bytes may be written.
  /// - Parameter count: counts bytes that were written.
  package init(
    admit: @escaping @Sendable () throws -> Void, count: @escaping @Sendable (Int64) -> Void
  ) {
    self.admit = admit
    self.count = count
  }

  /// Checks an update that is about to be committed. What makes the store smaller is never refused.
  /// - Returns: the bytes to count once it is committed.
  /// - Throws: what `admit` throws.
  func bytes(of changes: StoreChanges) throws -> Int64 {
    var bytes: Int64 = 0
    for mutation in changes.mutations {
      bytes += Self.rowBytes + Int64(mutation.body?.bytes.count ?? 0)
      for further in mutation.further { bytes += Int64(further.body.bytes.count) }
    }
    for edit in changes.locals {
      bytes += Self.rowBytes + Int64(edit.document?.body.count ?? 0)
    }
    for case .advance(_, _, let entries, _) in changes.indexes {
      for entry in entries { bytes += Int64(entry.key.count + (entry.content?.count ?? 0)) }
    }
    guard bytes > 0 else { return 0 }
    if try changes.attachedBytes > 0 || Quota.grows(changes.mutations, in: changes.view) {
      try admit()
    }
    return bytes + (try changes.view.info().lastSequence == 0 ? Self.storeBytes : 0)
  }

  /// Counts bytes that were committed.
  func note(_ bytes: Int64) { if bytes > 0 { count(bytes) } }
}
