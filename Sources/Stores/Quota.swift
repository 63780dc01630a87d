import Documents

/// The rule that a store's quota is never exceeded, and never in the way of a deletion.
///
/// The bytes of every stored body count. So that deleting makes room and history never stands in a document's
/// way, what is written in a store that is filling up, or has much history, keeps no bodies of ancestors; see
/// ``StoreLimits/fillingPercent`` and ``StoreLimits/historyPercent``.
enum Quota {
  /// Holds what is recorded against a store's limits, and says whether it keeps history.
  /// - Throws: `quotaExceeded`.
  static func check(
    _ changes: inout StoreChanges, against limits: StoreLimits
  ) throws {
    changes.keepsHistory =
      try changes.isWhole
      ? checkWhole(changes.mutations, against: limits, in: changes.view)
      : check(changes.mutations, purges: changes.purges, against: limits, in: changes.view)
    try check(changes.locals, against: limits, in: changes.view)
  }

  /// Purges are never refused, and make room for the mutations of their update.
  /// - Returns: whether the documents that are written may keep bodies of ancestors.
  /// - Throws: `quotaExceeded` when a revision that is no mere deletion adds a live document or bytes,
  ///   beyond the limits.
  private static func check(
    _ mutations: [Mutation], purges: [Purge], against limits: StoreLimits, in view: any StoreView
  ) throws -> Bool {
    guard !limits.isUnbounded, !mutations.isEmpty || !purges.isEmpty else { return true }
    try checkOverall(mutations, against: limits, in: view)
    let info = try view.info()
    let most = longest(mutations)
    let keepsHistory =
      info.storedBytes + most <= share(StoreLimits.fillingPercent, of: limits)
      && info.keptBytes + most <= share(StoreLimits.historyPercent, of: limits)
    guard mutations.contains(where: isGrowth) else { return keepsHistory }
    let documents = try info.documentCount + added(mutations, purges, in: view)
    guard documents <= limits.documents || documents <= info.documentCount else {
      throw tooMany(limits)
    }
    guard !keepsHistory else { return true }
    let bytes = try info.storedBytes + grown(mutations, purges, in: view)
    guard bytes <= limits.bytes || bytes <= info.storedBytes else {
      throw tooLarge(limits)
    }
    return false
  }

  /// Documents that come with their histories, of which nothing is left out.
  /// - Returns: true.
  /// - Throws: `quotaExceeded` when they come to more than the limits.
  private static func checkWhole(
    _ mutations: [Mutation], against limits: StoreLimits, in view: any StoreView
  ) throws -> Bool {
    guard !limits.isUnbounded else { return true }
    try checkOverall(mutations, against: limits, in: view)
    let info = try view.info()
    guard try info.documentCount + added(mutations, [], in: view) <= limits.documents else {
      throw tooMany(limits)
    }
    guard info.storedBytes + longest(mutations) <= limits.bytes else { throw tooLarge(limits) }
    return true
  }

  private static func tooMany(_ limits: StoreLimits) -> ServiceError {
    ServiceError(
      .quotaExceeded, "This store is full: it holds at most \(limits.documents) documents")
  }

  private static func tooLarge(_ limits: StoreLimits) -> ServiceError {
    ServiceError(.quotaExceeded, "This store is full: it holds at most \(limits.bytes) bytes")
  }

  /// What has no body of its own, a history or the tombstone of a document that was never here, is bounded by what
  /// the store holds in all: beyond it no id is new and no history longer than by an edit or two.
  private static func checkOverall(
    _ mutations: [Mutation], against limits: StoreLimits, in view: any StoreView
  ) throws {
    guard try view.holds(moreThan: limits.overallBytes) else { return }
    for mutation in mutations {
      guard let known = try view.newest(mutation.id),
        mutation.tree.count <= known.count + editedNodes
      else {
        throw ServiceError(
          .quotaExceeded,
          "This store is full: with tombstones and histories it holds at most "
            + "\(limits.overallBytes) bytes")
      }
    }
  }

  /// By how many revisions an edit, or the merge of two branches, makes a tree longer.
  private static let editedNodes = 3

  /// A tombstone as deletions make it may always be put; one that carries a text is no mere deletion.
  private static let plainTombstoneBytes = 64

  private static func isGrowth(_ mutation: Mutation) -> Bool {
    if mutation.further.contains(where: { isGrowth($0.body, isDeleted: $0.isDeleted) }) {
      return true
    }
    guard let body = mutation.body else { return false }
    return isGrowth(body, isDeleted: mutation.tree[mutation.revision]?.isDeleted ?? true)
  }

  private static func isGrowth(_ body: DocumentBody, isDeleted: Bool) -> Bool {
    !isDeleted || body.bytes.count > plainTombstoneBytes
  }

  private static func share(_ percent: Int64, of limits: StoreLimits) -> Int64 {
    limits.bytes / 100 * percent + limits.bytes % 100 * percent / 100
  }

  /// What the mutations add in bytes if nothing of before goes.
  private static func longest(_ mutations: [Mutation]) -> Int64 {
    mutations.reduce(0) {
      $0 + Int64(($1.body?.bytes.count ?? 0) + $1.closed.count * emptyBytes)
        + $1.further.reduce(0) { $0 + Int64($1.body.bytes.count) }
    }
  }

  /// By how many there are more live documents.
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

  /// By how many bytes there are more when no written document keeps its history.
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

/// How many local documents clients may have, and of what size together: as many, and as many bytes, as
/// documents, counted apart. Kept answers have a number of their own for each person who writes, and their bytes count
/// with these.
///
/// An answer is never dropped to make room for another: a key that was answered is answered again for its whole
/// time. So it is the next that is refused.
extension Quota {
  /// What a kind of local documents comes to.
  fileprivate struct Usage {
    var count: Int64
    var bytes: Int64
  }

  /// - Throws: `quotaExceeded` when clients' local documents, or answers, become more or longer, beyond the limits.
  static func check(
    _ edits: [LocalEdit], against limits: StoreLimits, in view: any StoreView
  ) throws {
    let clients = edits.filter { isNamed($0, LocalID.clientPrefix) }
    let answers = edits.filter { isNamed($0, LocalID.answerPrefix) }
    for owner in Set(answers.map { folder(of: $0.id) }) {
      try checkNumber(answers.filter { isNamed($0, owner) }, of: owner, in: view)
    }
    guard !limits.isUnbounded, !clients.isEmpty || !answers.isEmpty else { return }
    let before = (
      clients: try usage(LocalID.clientPrefix, in: view),
      answers: try usage(LocalID.answerPrefix, in: view)
    )
    let after = (
      clients: try before.clients.adding(clients, in: view),
      answers: try before.answers.adding(answers, in: view)
    )
    let bytes = after.clients.bytes + after.answers.bytes
    guard after.clients.count <= limits.documents || after.clients.count <= before.clients.count,
      bytes <= limits.bytes || bytes <= before.clients.bytes + before.answers.bytes
    else {
      throw ServiceError(
        .quotaExceeded,
        "This store is full of local documents: it holds at most \(limits.documents), "
          + "\(limits.bytes) bytes together with the answers that it keeps for idempotency keys and receipts"
      )
    }
  }

  /// Holds one person's answers against their number, in a store without other limits, too.
  private static func checkNumber(
    _ answers: [LocalEdit], of owner: String, in view: any StoreView
  ) throws {
    let before = try usage(owner, in: view)
    let after = try before.adding(answers, in: view)
    guard after.count <= StoreLimits.receipts || after.count <= before.count else {
      throw ServiceError(
        .quotaExceeded,
        "The answers to at most \(StoreLimits.receipts) requests with an idempotency key or a receipt are "
          + "kept, each for a day: send the request without a key, or later")
    }
  }

  /// The id up to its last slash.
  private static func folder(of id: LocalID) -> String {
    let end = id.text.utf8.lastIndex(of: UInt8(ascii: "/")) ?? id.text.startIndex
    return String(id.text[...end])
  }

  private static func isNamed(_ edit: LocalEdit, _ prefix: String) -> Bool {
    edit.document != nil && edit.id.text.utf8.starts(with: prefix.utf8)
  }

  private static func usage(
    _ prefix: String, in view: any StoreView
  ) throws -> Usage {
    let usage = try view.localUsage(of: prefix)
    return Usage(count: usage.count, bytes: usage.bytes)
  }
}

extension Quota.Usage {
  /// What it comes to with these edits.
  fileprivate func adding(
    _ edits: [LocalEdit], in view: any StoreView
  ) throws -> Self {
    var sum = self
    for edit in edits {
      let old = try view.local(edit.id)
      sum.count += old == nil ? 1 : 0
      sum.bytes += Int64(edit.document?.body.count ?? 0) - Int64(old?.body.count ?? 0)
    }
    return sum
  }
}
