import Documents

/// The rule that a store never exceeds its quota, and that the quota never prevents a deletion.
///
/// The bytes of all stored bodies and of attachments count. A store that is nearly full, or has much history, keeps no bodies of
/// ancestors for the documents that are written. So a deletion makes room, and history does not prevent new
/// documents; see ``StoreLimits/fillingPercent`` and ``StoreLimits/historyPercent``.
enum Quota {
  /// Checks the recorded changes against a store's limits. Beyond some of them the written documents keep no history.
  /// - Throws: `quotaExceeded`.
  static func check(_ changes: inout StoreChanges, against limits: StoreLimits) throws {
    try checkAttachments(changes, against: limits)
    let mayKeepHistory =
      try changes.isWhole
      ? checkWhole(changes.mutations, against: limits, in: changes.view)
      : check(changes.mutations, purges: changes.purges, against: limits, in: changes.view)
    // The rule may have said already that it keeps none.
    if !mayKeepHistory { changes.keepsHistory = false }
  }

  /// - Throws: `quotaExceeded` when new attachments exceed the limit.
  private static func checkAttachments(
    _ changes: StoreChanges, against limits: StoreLimits
  ) throws {
    guard changes.attachedBytes > 0, !limits.isUnbounded else { return }
    let bytes = try changes.view.info().storedBytes + changes.view.attachmentBytes()
    guard bytes + changes.attachedBytes + longest(changes.mutations) <= limits.bytes else {
      throw tooLarge(limits)
    }
  }

  /// Checks mutations. Purges are never refused; they make room for the mutations of the same update.
  /// - Returns: whether the written documents may keep bodies of ancestors.
  /// - Throws: `quotaExceeded` when a revision that is not a plain deletion adds a live document or bytes
  ///   beyond the limits.
  private static func check(
    _ mutations: [Mutation], purges: [Purge], against limits: StoreLimits, in view: any StoreView
  ) throws -> Bool {
    guard !limits.isUnbounded, !mutations.isEmpty || !purges.isEmpty else { return true }
    try checkOverall(mutations, against: limits, in: view)
    let info = try view.info()
    let stored = try info.storedBytes + view.attachmentBytes()
    let most = longest(mutations)
    let keepsHistory =
      stored + most <= share(StoreLimits.fillingPercent, of: limits)
      && info.keptBytes + most <= share(StoreLimits.historyPercent, of: limits)
    guard mutations.contains(where: { grownBytes($0) > 0 }) else { return keepsHistory }
    let documents = try info.documentCount + added(mutations, purges, in: view)
    guard documents <= limits.documents || documents <= info.documentCount else {
      throw tooMany(limits)
    }
    guard !keepsHistory else { return true }
    let bytes = try stored + grown(mutations, purges, in: view)
    guard bytes <= limits.bytes || bytes <= stored else { throw tooLarge(limits) }
    return false
  }

  /// Checks documents that are copied with their complete histories.
  /// - Returns: true.
  /// - Throws: `quotaExceeded` when they exceed the limits.
  private static func checkWhole(
    _ mutations: [Mutation], against limits: StoreLimits, in view: any StoreView
  ) throws -> Bool {
    guard !limits.isUnbounded else { return true }
    try checkOverall(mutations, against: limits, in: view)
    let info = try view.info()
    guard try info.documentCount + added(mutations, [], in: view) <= limits.documents else {
      throw tooMany(limits)
    }
    let bytes = try info.storedBytes + view.attachmentBytes()
    guard bytes + longest(mutations) <= limits.bytes else { throw tooLarge(limits) }
    return true
  }

  private static func tooMany(_ limits: StoreLimits) -> ServiceError {
    ServiceError(
      .quotaExceeded, "This store is full: it holds at most \(limits.documents) documents")
  }

  private static func tooLarge(_ limits: StoreLimits) -> ServiceError {
    ServiceError(.quotaExceeded, "This store is full: it holds at most \(limits.bytes) bytes")
  }

  /// Limits data without bodies: histories, and tombstones of documents that never existed in this store. When the
  /// store's complete content is too large, no new id is accepted, and a history can only grow by the revisions of an
  /// edit or a merge.
  private static func checkOverall(
    _ mutations: [Mutation], against limits: StoreLimits, in view: any StoreView
  ) throws {
    guard try view.holds(moreThan: limits.overallBytes) else { return }
    for mutation in mutations {
      guard try !lengthens(mutation, in: view) else {
        throw ServiceError(
          .quotaExceeded,
          "This store is full: with tombstones and histories it holds at most "
            + "\(limits.overallBytes) bytes")
      }
    }
  }

  /// Whether a mutation is of a new document, or adds more history than an edit, a deletion or a merge does.
  static func lengthens(_ mutation: Mutation, in view: any StoreView) throws -> Bool {
    guard let known = try view.newest(mutation.id) else { return true }
    // Each branch that ends has a tombstone more: a merge or a version may end any number of them.
    let ended = max(mutation.closed.count, known.openLeafCount - mutation.tree.openLeafCount)
    return mutation.tree.count > known.count + editedNodes + ended
  }

  /// By how many revisions one edit, or the merge of two branches, makes a tree longer, at most.
  private static let editedNodes = 3

  /// A tombstone with a body of at most this many bytes is a plain deletion and is always accepted.
  private static let plainTombstoneBytes = 64

  /// Whether mutations are more than deletions and what belongs to them: whether the new bodies, but for those of plain
  /// tombstones, have more bytes than the winners that they replace.
  static func grows(_ mutations: [Mutation], in view: any StoreView) throws -> Bool {
    let written = mutations.reduce(0) { $0 + grownBytes($1) }
    guard written > 0 else { return false }
    return try written > mutations.reduce(0) { try $0 + (view.document($1.id)?.body.count ?? 0) }
  }

  private static func grownBytes(_ mutation: Mutation) -> Int {
    let further = mutation.further.filter { isGrowth($0.body, isDeleted: $0.isDeleted) }
      .reduce(0) { $0 + $1.body.bytes.count }
    guard let body = mutation.body,
      isGrowth(body, isDeleted: mutation.tree[mutation.revision]?.isDeleted ?? true)
    else { return further }
    return further + body.bytes.count
  }

  private static func isGrowth(_ body: DocumentBody, isDeleted: Bool) -> Bool {
    !isDeleted || body.bytes.count > plainTombstoneBytes
  }

  private static func share(_ percent: Int64, of limits: StoreLimits) -> Int64 {
    limits.bytes / 100 * percent + limits.bytes % 100 * percent / 100
  }

  /// The bytes that the mutations add if no stored body is removed.
  static func longest(_ mutations: [Mutation]) -> Int64 {
    mutations.reduce(0) {
      $0 + Int64(($1.body?.bytes.count ?? 0) + $1.closed.count * emptyBytes)
        + $1.further.reduce(0) { $0 + Int64($1.body.bytes.count) }
    }
  }

  /// By how much the number of live documents grows.
  private static func added(
    _ mutations: [Mutation], _ purges: [Purge], in view: any StoreView
  ) throws -> Int64 {
    var documents: Int64 = 0
    for (id, tree) in mutations.map({ ($0.id, $0.tree) }) + purges.map({ ($0.id, $0.tree) }) {
      documents += (tree.winner?.isDeleted ?? true) ? 0 : 1
      documents -= (try view.newest(id)?.winner?.isDeleted ?? true) ? 0 : 1
    }
    return documents
  }

  /// By how much the number of bytes grows when no written document keeps its history.
  private static func grown(
    _ mutations: [Mutation], _ purges: [Purge], in view: any StoreView
  ) throws -> Int64 {
    var bytes: Int64 = 0
    for mutation in mutations {
      bytes -= try view.storedBytes(of: mutation.id)
      for leaf in mutation.tree.nodes where leaf.isLeaf {
        bytes += try Int64(length(of: leaf.revision, after: mutation, in: view))
      }
    }
    for purge in purges {
      bytes -= try view.storedBytes(of: purge.id)
      for leaf in purge.tree.nodes where leaf.isLeaf {
        bytes += Int64(try view.body(purge.id, leaf.revision)?.count ?? 0)
      }
    }
    return bytes
  }

  private static func length(
    of leaf: RevisionID, after mutation: Mutation, in view: any StoreView
  ) throws -> Int {
    if let body = mutation.body(of: leaf) { return body.bytes.count }
    if mutation.closed.contains(leaf) { return emptyBytes }
    return try view.body(mutation.id, leaf)?.count ?? 0
  }

  private static let emptyBytes = DocumentBody.empty.bytes.count
}
