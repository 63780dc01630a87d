package import Documents
import JSON

/// What a store takes. Every limit is shown by `GET /v1/limits`.
package struct StoreLimits: Sendable, Equatable {
  /// Live documents at most.
  package var documents: Int64
  /// Bytes of all stored bodies at most: winners', losing leaves', kept ancestors'.
  package var bytes: Int64
  /// How much history each document may have.
  package var history: HistoryLimits
  /// Bytes of one document's body at most.
  package var documentBytes: Int

  /// Limits by number; `.max` is none.
  package init(
    documents: Int64, bytes: Int64, history: HistoryLimits = .standard,
    documentBytes: Int = JSONLimits.document.maximumBytes
  ) {
    self.documents = documents
    self.bytes = bytes
    self.history = history
    self.documentBytes = documentBytes
  }

  /// Whether the store may grow as long as there is a disk.
  var isUnbounded: Bool { documents == .max && bytes == .max }

  /// How many times ``bytes`` a store holds in all, histories, tombstones, local documents and indexes included,
  /// before it takes no further document.
  package static let overallFactor: Int64 = 16
  /// ``bytes``, that many times; no limit where that is none.
  var overallBytes: Int64 {
    let (product, isBeyond) = bytes.multipliedReportingOverflow(by: Self.overallFactor)
    return isBeyond ? .max : product
  }

  /// Answers to one person's writes that a store keeps at once (see ``WriteReceipt``); a further one is refused until
  /// the oldest are a day old. With their bytes they count as clients' local documents do.
  package static let receipts: Int64 = 1_000
  /// How long an answer is kept, in seconds: 24 hours.
  package static let receiptSeconds: Int64 = 86_400
  /// The longest idempotency key, in bytes of UTF-8.
  package static let receiptKeyBytes = 255
  /// Updates of one store that may wait at once; one more is `overloaded`.
  package static let pendingUpdates = 256
  /// Bodies of ancestors that are kept for history and restore, newest first.
  package static let storedAncestors = 20
  /// Percent of ``bytes`` that bodies other than winners' may take; beyond it, a document that is
  /// written keeps no ancestors' bodies.
  package static let historyPercent: Int64 = 12
  /// Percent of ``bytes`` from which a store is filling up: beyond it, too, a document that is written
  /// keeps no ancestors' bodies, so that deleting makes room.
  package static let fillingPercent: Int64 = 75
  /// A user's or a list's store: 50,000 documents, 256 MiB.
  package static let full = StoreLimits(documents: 50_000, bytes: 256 << 20)
  /// A guest's store: 200 documents (the list counts as one), 1 MiB.
  package static let guest = StoreLimits(documents: 201, bytes: 1 << 20)
  /// A database of the administrator's, unless an operator says otherwise, is bounded as CouchDB's are: by the disk,
  /// and documents by 8 MB (`max_document_size`).
  package static let database = StoreLimits(
    documents: .max, bytes: .max, history: .database, documentBytes: 8_000_000)
  /// The system store grows with the accounts.
  package static let unbounded = StoreLimits(
    documents: .max, bytes: .max, history: HistoryLimits(revisions: 20))

  /// The limits that hold for a store.
  package static func standard(for name: StoreName) -> StoreLimits {
    switch name {
    case .guest: .guest
    case .system: .unbounded
    case .user, .list: .full
    case .named: .database
    case .staged(let name): standard(for: name)
    }
  }
}
