import Documents

/// How many local documents clients may have, and of what size together: as many, and as many bytes, as
/// documents, counted apart. Receipts of batches have a number of their own, and their bytes count with these.
///
/// A receipt is never dropped to make room for another: a key that was answered is answered again for its whole
/// time. So it is the next key that is refused.
extension Quota {
  /// What a kind of local documents comes to.
  fileprivate struct Usage {
    var count: Int64
    var bytes: Int64
  }

  /// - Throws: `quotaExceeded` when clients' local documents, or receipts, become more or longer, beyond the limits.
  static func check(
    _ edits: [LocalEdit], against limits: StoreLimits, in view: any StoreView
  ) throws(StoreError) {
    guard !limits.isUnbounded else { return }
    let clients = edits.filter { isNamed($0, LocalID.clientPrefix) }
    let receipts = edits.filter { isNamed($0, LocalID.batchPrefix) }
    guard !clients.isEmpty || !receipts.isEmpty else { return }
    let before = (
      clients: try usage(LocalID.clientPrefix, in: view),
      receipts: try usage(LocalID.batchPrefix, in: view)
    )
    let after = (
      clients: try before.clients.adding(clients, in: view),
      receipts: try before.receipts.adding(receipts, in: view)
    )
    guard
      after.receipts.count <= StoreLimits.receipts || after.receipts.count <= before.receipts.count
    else {
      throw StoreError(
        .quotaExceeded,
        "This store keeps the answers to at most \(StoreLimits.receipts) idempotency keys, each for a "
          + "day: send the request without a key, or later")
    }
    let bytes = after.clients.bytes + after.receipts.bytes
    guard after.clients.count <= limits.documents || after.clients.count <= before.clients.count,
      bytes <= limits.bytes || bytes <= before.clients.bytes + before.receipts.bytes
    else {
      throw StoreError(
        .quotaExceeded,
        "This store is full of local documents: it holds at most \(limits.documents), "
          + "\(limits.bytes) bytes together with the answers to idempotency keys")
    }
  }

  private static func isNamed(_ edit: LocalEdit, _ prefix: String) -> Bool {
    edit.document != nil && edit.id.text.utf8.starts(with: prefix.utf8)
  }

  private static func usage(
    _ prefix: String, in view: any StoreView
  ) throws(StoreError) -> Usage {
    let usage = try view.localUsage(of: prefix)
    return Usage(count: usage.count, bytes: usage.bytes)
  }
}

extension Quota.Usage {
  /// What it comes to with these edits.
  fileprivate func adding(
    _ edits: [LocalEdit], in view: any StoreView
  ) throws(StoreError) -> Self {
    var sum = self
    for edit in edits {
      let old = try view.local(edit.id)
      sum.count += old == nil ? 1 : 0
      sum.bytes += Int64(edit.document?.body.count ?? 0) - Int64(old?.body.count ?? 0)
    }
    return sum
  }
}
