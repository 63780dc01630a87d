package import Documents

extension StoreView {
  /// How often the store has forgotten revisions: who keeps a copy of it can't learn of that from the feed.
  package func purgeCount() throws(StoreError) -> Int64 {
    try local(.purgeCount)?.revision ?? 0
  }
}

extension LocalID {
  /// The local document whose revision counts purges.
  package static let purgeCount = LocalID(receipt: "purges")
}
