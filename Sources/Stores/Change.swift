package import Documents

/// One row of the change feed: the last change of a document.
package struct Change: Sendable, Equatable {
  package let sequence: Int64
  package let id: DocumentID
  /// The winner after the change.
  package let revision: RevisionID
  package let isDeleted: Bool

  package init(sequence: Int64, id: DocumentID, revision: RevisionID, isDeleted: Bool) {
    self.sequence = sequence
    self.id = id
    self.revision = revision
    self.isDeleted = isDeleted
  }
}

/// An epoch of a store that ended when another database server took over, perhaps without the newest changes.
package struct FormerEpoch: Sendable, Equatable {
  package let epoch: String
  /// The last sequence number of the epoch that the store still has.
  package let last: Int64

  package init(epoch: String, last: Int64) { (self.epoch, self.last) = (epoch, last) }
}

/// What another process did to a store.
package enum RemoteChange: Sendable, Equatable {
  /// It committed something.
  case changed(StoreName)
  /// It erased the store, or replaced it by another one.
  case ended(StoreName)
  /// It may have done anything to any store: notices were lost.
  case unknown
}

/// Where the feed of a store is.
package struct StorePosition: Sendable, Equatable {
  package let epoch: String
  /// A number that grows with every commit that changes the store.
  package let mark: Int64

  package init(epoch: String, mark: Int64) {
    self.epoch = epoch
    self.mark = mark
  }
}
