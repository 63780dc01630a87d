package import Documents

/// The limits of a store. `GET /v1/limits` shows all of them.
package struct StoreLimits: Sendable, Equatable {
  /// The highest number of live documents.
  package var documents: Int64
  /// The highest number of bytes of all stored bodies, winners', losing leaves' and kept ancestors', and of attachments.
  package var bytes: Int64
  package var history: HistoryLimits
  /// The highest number of bytes of one document's body.
  package var documentBytes: Int
  /// The highest number of bytes of one attachment.
  package var attachmentBytes: Int
  /// How many writes with a key or a receipt the store knows of one person at once; see ``mostReceipts``.
  package var receipts: Int64
  private let ownOverallBytes: Int64?
  private let ownReceiptBytes: Int64
  private let ownLocalDocuments: Int64?
  private let ownLocalBytes: Int64?

  /// How many bytes of their answers the store keeps for one person; see ``mostReceiptBytes``.
  package var receiptBytes: Int64 { min(ownReceiptBytes, bytes) }
  /// How many local documents of one writer the store has at most; see ``LocalShare``.
  package var localDocuments: Int64 { ownLocalDocuments ?? documents }
  /// How many bytes they have at most.
  package var localBytes: Int64 { ownLocalBytes ?? bytes }

  /// Creates limits; `.max` means no limit.
  package init(
    documents: Int64, bytes: Int64, history: HistoryLimits = .standard,
    documentBytes: Int = JSONLimits.document.maximumBytes,
    attachmentBytes: Int = AttachmentLimits.personBytes, receipts: Int64 = Self.mostReceipts,
    receiptBytes: Int64 = Self.mostReceiptBytes, localDocuments: Int64? = nil,
    localBytes: Int64? = nil, overallBytes: Int64? = nil
  ) {
    ownOverallBytes = overallBytes
    ownLocalDocuments = localDocuments
    ownLocalBytes = localBytes
    self.receipts = receipts
    ownReceiptBytes = receiptBytes
    self.documents = documents
    self.bytes = bytes
    self.history = history
    self.documentBytes = documentBytes
    self.attachmentBytes = attachmentBytes
  }

  /// Whether only the disk limits the store.
  var isUnbounded: Bool { documents == .max && bytes == .max }

  /// The store's complete content, with histories, tombstones, local documents and indexes, may take this
  /// many times ``bytes``. Above that, no new document is accepted.
  package static let overallFactor: Int64 = 16
  /// ``bytes`` times ``overallFactor``, unless it was set; `.max` when there is no limit.
  package var overallBytes: Int64 {
    if let ownOverallBytes { return ownOverallBytes }
    let (product, isBeyond) = bytes.multipliedReportingOverflow(by: Self.overallFactor)
    return isBeyond ? .max : product
  }

  /// How many writes with a key or a receipt a store knows of one person at once (see ``WriteReceipt``). Further ones are
  /// refused until the oldest have expired.
  package static let mostReceipts: Int64 = 20_000
  /// How many bytes of their answers a store keeps for one person: 2 MiB, or ``bytes`` if that is less. Beyond, the
  /// oldest answers go; that their writes were carried out stays known. Answers of at most 256 bytes don't count.
  package static let mostReceiptBytes: Int64 = 2 << 20
  /// How long an answer is kept, in seconds: 24 hours.
  package static let receiptSeconds: Int64 = 86_400
  /// For how long after its receipt an accepted write may be carried out, in seconds, where several servers use the same
  /// stores; see ``WriteDeadline``.
  package static let acceptedSeconds: Int64 = 20
  /// After how many seconds such a write that is not found was not carried out. A server that stops during a commit
  /// loses its transaction within the difference.
  package static let acceptedDecidedSeconds: Int64 = 30
  /// The longest idempotency key, in bytes of UTF-8.
  package static let receiptKeyBytes = 255
  /// How many updates of one store may wait at once; a further one fails with `overloaded`.
  package static let pendingUpdates = 256
  /// How many ancestors' bodies are kept for history and restore, newest first.
  package static let storedAncestors = 20
  /// The percentage of ``bytes`` that bodies other than winners' may take. Above it, a written document keeps
  /// no bodies of ancestors.
  package static let historyPercent: Int64 = 12
  /// The percentage of ``bytes`` from which a store counts as nearly full. Above it, too, a written document
  /// keeps no bodies of ancestors, so that deletions make room.
  package static let fillingPercent: Int64 = 75
  /// The store of a user: 50,000 documents, 256 MiB.
  package static let full = StoreLimits(documents: 50_000, bytes: 256 << 20)
  /// The store of a list: 50,000 documents, 256 MiB. Each member may write 200 local documents, 1 MiB.
  package static let list = StoreLimits(
    documents: 50_000, bytes: 256 << 20, localDocuments: 200, localBytes: 1 << 20)
  /// How many local documents of a checkpoint's shape one writer has in a store. Above that, the one that was not
  /// written for longest makes room.
  package static let checkpoints: Int64 = 1_000
  /// The store of a guest: 200 documents and the list, 1 MiB.
  package static let guest = guest(overallBytes: 16 << 20)
  /// The store of a guest.
  /// - Parameter overallBytes: what it may take with histories, tombstones, local documents and indexes.
  package static func guest(overallBytes: Int64) -> StoreLimits {
    StoreLimits(documents: 201, bytes: 1 << 20, overallBytes: overallBytes)
  }
  /// A database of the administrator, unless an operator sets other limits. As in CouchDB only the disk
  /// limits it; a document has at most 8 MB (`max_document_size`).
  package static let database = StoreLimits(
    documents: .max, bytes: .max, history: .database, documentBytes: 8_000_000,
    attachmentBytes: AttachmentLimits.databaseBytes)
  /// The system store, which grows with the number of accounts.
  package static let unbounded = StoreLimits(
    documents: .max, bytes: .max, history: HistoryLimits(revisions: 20))

  package static func standard(for name: StoreName) -> StoreLimits {
    switch name {
    case .guest: .guest
    case .system: .unbounded
    case .user: .full
    case .list: .list
    case .named: .database
    case .staged(let name, _): standard(for: name)
    }
  }
}
