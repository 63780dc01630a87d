import Documents

/// How many local documents clients may have, and of what size together: as many, and as many bytes, as
/// documents, counted apart.
extension Quota {
  /// - Throws: `quotaExceeded` when clients' local documents become more or longer, beyond the limits.
  static func check(
    _ edits: [LocalEdit], against limits: StoreLimits, in view: any StoreView
  ) throws(StoreError) {
    guard limits.documents != .max else { return }
    let clients = edits.filter { edit in
      edit.document != nil && edit.id.text.utf8.starts(with: LocalID.clientPrefix.utf8)
    }
    guard !clients.isEmpty else { return }
    let before = try view.localUsage()
    var usage = before
    for edit in clients {
      let old = try view.local(edit.id)
      usage.count += old == nil ? 1 : 0
      usage.bytes += Int64(edit.document?.body.count ?? 0) - Int64(old?.body.count ?? 0)
    }
    guard usage.count <= limits.documents || usage.count <= before.count,
      usage.bytes <= limits.bytes || usage.bytes <= before.bytes
    else {
      throw StoreError(
        .quotaExceeded,
        "This store is full of local documents: it holds at most \(limits.documents), "
          + "\(limits.bytes) bytes together")
    }
  }
}
