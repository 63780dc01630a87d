import Documents

/// Counts the bytes that a request writes to a guest's store for the address that the request came from, while the guest
/// is new. Without it, the limit of a store would be no limit, because guests are free.
package struct WriteMeter: Sendable {
  /// What a store's first commit counts besides its bytes: an empty store takes 16 KiB.
  static let storeBytes: Int64 = 16 << 10
  /// What each document or local document counts besides its bytes, for its row.
  static let rowBytes: Int64 = 256
  /// How many bytes and how many of a store's local documents may be checkpoints that are never refused.
  static let (freeCheckpointBytes, freeCheckpoints): (Int64, Int64) = (64 << 10, 64)

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
      bytes += try Self.historyBytes(mutation, in: changes.view)
      for further in mutation.further { bytes += Int64(further.body.bytes.count) }
    }
    for edit in changes.locals { bytes += Self.rowBytes + Int64(edit.document?.body.count ?? 0) }
    for case .advance(_, _, let entries, _) in changes.indexes {
      for entry in entries { bytes += Int64(entry.key.count + (entry.content?.count ?? 0)) }
    }
    guard bytes > 0 else { return 0 }
    let isNew = try Self.isEmpty(changes.view)
    if try isNew || changes.attachedBytes > 0 || Quota.grows(changes.mutations, in: changes.view)
      || changes.mutations.contains(where: { try Quota.lengthens($0, in: changes.view) })
      || Self.growsByLocals(changes)
    {
      try admit()
    }
    return bytes + (isNew ? Self.storeBytes : 0)
  }

  /// Whether nothing was written to a store yet. The local documents of a device that only reads take no sequence number.
  private static func isEmpty(_ view: any StoreView) throws -> Bool {
    guard try view.info().lastSequence == 0 else { return false }
    return try view.localIDs(DocumentRange(), atMost: 1) { $0 }.isEmpty
  }

  /// About how many bytes the revisions take that a mutation adds to its document's history.
  private static func historyBytes(_ mutation: Mutation, in view: any StoreView) throws -> Int64 {
    let tree = mutation.tree
    let added = try tree.count - (view.newest(mutation.id)?.count ?? 0)
    return Int64(max(0, added) * tree.byteCount / max(1, tree.nodes.count))
  }

  /// Whether somebody writes answers and nothing else, or a longer local document. Checkpoints may be written as long as
  /// they take little: a device that only reads writes them, too.
  private static func growsByLocals(_ changes: StoreChanges) throws -> Bool {
    let new = changes.locals.filter { $0.document != nil }
    let clients = new.filter { $0.id.text.utf8.starts(with: LocalID.clientPrefix.utf8) }
    guard !clients.isEmpty else {
      return !new.isEmpty && changes.mutations.isEmpty && changes.purges.isEmpty
        && changes.author != .server
    }
    if clients.allSatisfy({ $0.document?.isCheckpoint ?? true }) {
      let usage = try changes.view.localUsage(of: LocalID.clientPrefix)
      let added = clients.reduce(0) { $0 + Int64($1.document?.body.count ?? 0) }
      if usage.count < freeCheckpoints, usage.bytes + added <= freeCheckpointBytes { return false }
    }
    return try clients.contains { edit in
      try edit.document?.body.count ?? 0 > changes.view.local(edit.id)?.body.count ?? 0
    }
  }

  /// Counts bytes that were committed.
  func note(_ bytes: Int64) { if bytes > 0 { count(bytes) } }
}
