import Accounts
import BLIP
import CouchQuery
import CouchSync
import Documents
import HTTPServer
import Hotels
import Lists
import LiteSync
import Scheduling
import Stores

/// All limits with their units, for `GET /v1/limits`.
enum Limits {
  /// `{"limits":[{"name","value","unit"}…]}`.
  /// - Parameter caps: the caps that an operator has set.
  /// - Parameter search: the time limit of a search in this process.
  /// - Parameter set: the limits that an operator has set.
  /// - Parameter replications: those of the server's own replications.
  static func json(
    _ caps: ConnectionCaps, search: Duration, set: SetLimits,
    replications: [(name: String, value: Int, unit: String)]
  ) -> [UInt8] {
    return JSONWriter.object { writer in
      let searches = [
        ("searchMilliseconds", Int(search / .milliseconds(1)), "milliseconds in the own catalogue")
      ]
      let all = rows + connections(caps) + set.rows + searches + replications
      writer.objects("limits", of: all) { limit, writer in
        let (name, value, unit) = limit
        writer.member("name", name)
        writer.member("value", value)
        writer.member("unit", unit)
      }
    }
  }

  private static func connections(_ caps: ConnectionCaps) -> [(String, Int, String)] {
    [
      ("connections", caps.total, "connections at once"),
      ("connectionsPerAddress", caps.perAddress, "connections at once"),
      ("requestsAtOnce", caps.requestsAtOnce, "requests being answered"),
      ("streams", RequestLimits.streams, "streams per HTTP/2 connection"),
      (
        "processorMillisecondsSaved", Int(ProcessorAccount.capacity / 1_000_000),
        "milliseconds of a processor per address, guest or user"
      ),
      (
        "processorPercent", Int(ProcessorAccount.percent),
        "percent of a processor that come in again"
      ),
      (
        "processorWaitSeconds", Seats.patienceSeconds,
        "seconds that an overdrawn request waits behind others"
      ),
      ("requestSeconds", caps.requestSeconds, "seconds until an answer begins"),
      ("sliceMilliseconds", Slice.milliseconds, "milliseconds of a processor without giving way"),
      (
        "requestProcessorMilliseconds", caps.requestProcessorMilliseconds,
        "milliseconds of a processor per request"
      ),
      (
        "requestProcessorMillisecondsPerMiB",
        Int(Work.limitPerMebibyte(of: Int64(caps.requestProcessorMilliseconds))),
        "milliseconds of a processor per MiB moved by a stream"
      ),
      ("bodyMemoryBytes", caps.bodyMemoryBytes, "bytes of all requests' bodies"),
      ("answerMemoryBytes", caps.answerMemoryBytes, "bytes of all answers on their way"),
      ("operationsConnections", OperationsListener.connections, "connections at once"),
    ]
  }

  /// The bytes of a message of Couchbase Lite that are kept, in every database. A longer document is refused alone.
  private static let liteMessageBytes = 4 << 20

  /// The bounds of a session of Couchbase Lite in a database with these limits.
  static func blip(_ limits: DocumentLimits) -> BLIPLimits {
    // A device sends no attachments in a document.
    let message = max(liteMessageBytes, limits.bytes + 2 * BLIPLimits.propertyBytes)
    // LiteCore sends so many revisions at once in turns, however long they are, and lists of changes besides.
    return BLIPLimits(
      messageBytes: message, openBytes: LiteSession.revisionsAtOnce * message + (2 << 20))
  }

  private static let rows: [(String, Int, String)] =
    documents + stores + lists + requests + sync + feeds + lite + queries

  private static let lists: [(String, Int, String)] = [
    ("listsOwned", ListLimits.owned, "lists that an account has made"),
    ("listsJoined", ListLimits.joined, "lists that an account has joined"),
    ("invitations", ListLimits.openToAccount, "open invitations of an account by name"),
    ("invitationTitleBytes", ListLimits.invitationTitleBytes, "bytes of a title in one of them"),
    ("blockedInviters", ListLimits.blockedInviters, "accounts whose invitations are not shown"),
    ("listMembers", ListLimits.members, "members of a list"),
    ("listInvitations", ListLimits.openInvitations, "open invitations to a list"),
    (
      "listInvitationSeconds", Int(ListLimits.longestInvitationSeconds),
      "seconds that an invitation may be open"
    ),
    ("listLinks", ListLimits.links, "links that show a list"),
    ("linkPage", ListLimits.linkPage, "hotels and notes of one answer to such a link"),
    ("listDrafts", ListLimits.drafts, "drafts of one member on a list"),
    ("listDraftBytes", ListLimits.draftBytes, "bytes of them"),
    ("listPageBytes", ListLimits.pageBytes, "bytes of texts after which a page of notes ends"),
    ("listsPageBytes", ListLimits.listPageBytes, "bytes after which a page of lists ends"),
    ("listsPageMemberBytes", ListLimits.memberPageBytes, "bytes that a member counts there"),
    ("listPage", ListLimits.page, "lists or notes of one answer"),
    ("listTitleBytes", ListLimits.titleBytes, "bytes"),
    ("listMarkdownBytes", ListLimits.markdownBytes, "bytes"),
  ]

  private static let documents: [(String, Int, String)] = [
    ("documentBytes", JSONLimits.document.maximumBytes, "bytes"),
    ("documentDepth", JSONLimits.document.maximumDepth, "levels"),
    ("documentMembers", JSONLimits.document.maximumMembers, "members per object"),
    ("stringBytes", JSONLimits.document.maximumStringBytes, "bytes"),
    ("numberDigits", JSONLimits.document.maximumNumberDigits, "digits"),
    ("numberExponent", JSONLimits.exponents.upperBound, "decimal exponent"),
    ("numberNegativeExponent", -JSONLimits.exponents.lowerBound, "negative decimal exponent"),
    ("documentIDBytes", DocumentID.maximumBytes, "bytes"),
    ("attachmentBytes", AttachmentLimits.personBytes, "bytes of one attachment"),
    (
      "databaseAttachmentBytes", AttachmentLimits.databaseBytes,
      "bytes of one in a database of the administrator"
    ),
    ("attachments", IncomingAttachment.most, "attachments per document"),
    ("attachmentNameBytes", AttachmentName.maximumBytes, "bytes"),
    ("attachmentTypeBytes", IncomingAttachment.typeBytes, "bytes"),
    ("attachmentRanges", ByteRanges.most, "ranges of one answer"),
    ("attachmentPieceBytes", AttachmentLimits.pieceBytes, "bytes that are stored together"),
    (
      "abandonedAttachmentSeconds", Int(AttachmentLimits.abandonedSeconds),
      "seconds that an attachment may wait for its document"
    ),
    ("documentRequestBytes", CouchLimits.bulk.maximumBytes, "bytes of a document with attachments"),
    ("revisions", HistoryLimits.standard.revisions, "revision ids per branch"),
    ("leaves", HistoryLimits.standard.liveLeaves, "live leaves per document"),
    ("closedLeaves", HistoryLimits.standard.deletedLeaves, "tombstone leaves per document"),
    ("treeBytes", HistoryLimits.standard.treeBytes, "bytes of revision ids per document"),
    ("closedBranches", ClosedBranches.maximumStanding, "merged branches per list"),
    ("closedBranchDays", ClosedBranches.days, "days that one is kept, and then its mark"),
    ("closedBranchMarks", ClosedBranches.maximumMarks, "marks of merged branches per list"),
    ("storedAncestors", StoreLimits.storedAncestors, "bodies per document"),
    ("storeHistoryPercent", Int(StoreLimits.historyPercent), "percent of a store's bytes"),
    ("storeFillingPercent", Int(StoreLimits.fillingPercent), "percent of a store's bytes"),
    (
      "storeOverallFactor", Int(StoreLimits.overallFactor),
      "times a store's bytes, with all it holds"
    ),
  ]

  private static let stores: [(String, Int, String)] = [
    ("guestDocuments", Int(StoreLimits.guest.documents), "documents"),
    ("guestBytes", Int(StoreLimits.guest.bytes), "bytes"),
    ("storeDocuments", Int(StoreLimits.full.documents), "documents"),
    ("storeBytes", Int(StoreLimits.full.bytes), "bytes"),
    ("storeReceipts", Int(StoreLimits.mostReceipts), "known keys per person, store and day"),
    ("storeReceiptBytes", Int(StoreLimits.mostReceiptBytes), "bytes of kept answers per person"),
    (
      "listLocalDocuments", Int(StoreLimits.list.localDocuments),
      "local documents of one member on a list"
    ),
    ("listLocalBytes", Int(StoreLimits.list.localBytes), "bytes of them"),
    ("checkpoints", Int(StoreLimits.checkpoints), "checkpoints of one writer in a store"),
    ("deviceNameBytes", DeviceLabel.nameBytes, "bytes of a device's name"),
    ("refusedRevisions", RefusedRevision.most, "refused revisions of one person in a store"),
    ("refusedRevisionBytes", RefusedRevision.mostBytes, "bytes of one that is kept"),
    ("refusedRevisionDays", Int(RefusedRevision.keptDays), "days that one is kept"),
    (
      "refusedRevisionRetries", RefusedRevision.mostRetries,
      "times that the server writes one again by itself"
    ),
    ("refusedRevisionRetrySeconds", Int(RefusedRevision.retryPause), "seconds between two of them"),
    ("guestSeconds", Int(AccountSettings().guestLifetime), "seconds that a guest's token works"),
    ("userSeconds", Int(AccountSettings().userLifetime), "seconds that a user's token works"),
    (
      "sessionSeconds", Int(AccountSettings().sessionLifetime),
      "seconds after its log-in that a user's session ends"
    ),
    ("renewalSeconds", Int(AccountSettings().renewalAge), "seconds after which use renews a token"),
    ("guestKeepSeconds", Int(AccountSettings().guestKeeping), "seconds since a guest was here"),
    ("importLineBytes", ExportFormat.lineBytes, "bytes of a line of an export"),
    ("importLines", ExportFormat.lines, "lines of an export"),
    ("importsAtOnce", DatabaseManager.filledAtOnce, "accounts that are filled"),
    ("importsPerAddress", ImportPlaces.perAddress, "accounts that are filled"),
    ("pendingUpdates", StoreLimits.pendingUpdates, "updates per store"),
  ]

  private static let requests: [(String, Int, String)] = [
    ("uriBytes", RequestTarget.maximumBytes, "bytes"),
    ("requestValues", JSONLimits.standardValues, "JSON values of a body"),
    ("unpackedFactor", Call.mostUnpacked, "times the bytes of a packed body"),
    ("bodyFactor", Call.bodyFactor, "times a body's bytes that it is accounted for"),
    ("headerBytes", RequestLimits.headerBytes, "bytes"),
    ("headerFields", RequestLimits.headerFields, "fields"),
    (
      "idleSeconds", RequestLimits.idleSeconds,
      "seconds without a request, without bytes of its body, or without reading its answer"
    ),
    ("headerSeconds", RequestLimits.headerSeconds, "seconds for a request's head"),
    ("bodyGraceSeconds", RequestLimits.bodyGraceSeconds, "seconds that a body may pause"),
    ("bodyFileBytes", RequestLimits.bodyFileBytes, "bytes of all requests' bodies in files"),
    ("bodyFileBytesPerAddress", RequestLimits.bodyFileBytesPerAddress, "bytes of bodies in files"),
    (
      "bodyPieces", RequestLimits.bodyPieces,
      "pieces of a body, besides one for every \(RequestLimits.bytesPerBodyPiece) of its bytes"
    ),
    ("bodyBytesPerSecond", RequestLimits.bodyBytesPerSecond, "bytes per second, at least"),
    (
      "bodySeconds", RequestLimits.bodySeconds,
      "seconds for a request's body, besides those of its bytes at bodyBytesPerSecond"
    ),
    ("bodyAtStopSeconds", RequestLimits.bodyAtStopSeconds, "seconds for a body at the stop"),
    ("answerBytesPerSecond", RequestLimits.answerBytesPerSecond, "bytes per second, at least"),
    ("stopSeconds", RequestLimits.stopSeconds, "seconds from SIGTERM to the last answer's end"),
    ("usernameBytes", UserName.maximumBytes, "bytes"),
    ("passwordMinimumBytes", PasswordRule.bytes.lowerBound, "bytes"),
    ("passwordMaximumBytes", PasswordRule.bytes.upperBound, "bytes"),
    (
      "passwordsBeforeLock", AccountSettings().failuresBeforeLockout,
      "different wrong passwords per name and address"
    ),
    (
      "passwordsPerHourLocked", AccountSettings.comparedWhileLocked,
      "passwords compared per locked name and address"
    ),
    (
      "passwordProvenSeconds", Int(AccountSettings.provenLifetime),
      "seconds since a password was right at an address"
    ),
    ("idTokenBytes", AccountSettings.idTokenBytes, "bytes"),
    ("idTokenSeconds", Int(AccountSettings.idTokenAge), "seconds since it was issued"),
    ("issuerAttemptSeconds", Int(AccountSettings.issuerAttempts), "seconds between attempts"),
    ("issuerKeysSeconds", Int(AccountSettings.issuerKeysAge), "seconds until asked for again"),
    ("issuerKeysStaleSeconds", Int(AccountSettings.issuerKeysLife), "seconds while it is down"),
    ("issuerAnswerBytes", AccountSettings.issuerAnswerBytes, "bytes"),
    ("hotelBytes", BookmarkLimits.hotelBytes, "bytes"),
    ("photos", Photo.most, "photos of a bookmark"),
    ("photoBytes", Photo.maximumBytes, "bytes of one photo"),
    ("batchBytes", JSONLimits.document.maximumBytes, "bytes"),
    ("batchItems", BookmarkLimits.batchItems, "hotels"),
    (
      "adoptionUndoSeconds", Int(BookmarkLimits.undoSeconds), "seconds since a guest was taken over"
    ),
    ("adoptionUndoRevisions", BookmarkLimits.undoneRevisions, "revisions that came from a guest"),
    ("restoredHotels", BookmarkLimits.restoredHotels, "hotels that come or go with a list"),
    ("historyRevisions", HistoryPage.maximumRevisions, "revisions per page"),
    ("searchTextBytes", HotelQuery.maximumTextBytes, "bytes"),
    ("searchWords", HotelQuery.maximumWords, "different words"),
    ("searchLimit", HotelQuery.maximumLimit, "hotels"),
    ("searchOffset", HotelQuery.maximumOffset, "hotels"),
    ("idempotencyKeyBytes", StoreLimits.receiptKeyBytes, "bytes"),
    ("idempotencySeconds", Int(StoreLimits.receiptSeconds), "seconds"),
    (
      "keptBodyBytes", WriteOptions.bodyBytes,
      "bytes of a body with a key or answered before it is done"
    ),
    ("pendingWrites", PendingWrites.total, "writes that were answered 202 and are not done"),
    ("pendingWritesPerPrincipal", PendingWrites.perPrincipal, "writes that were answered 202"),
    ("pendingWriteRetries", PendingWrites.pauses.count, "attempts after the first"),
    (
      "pendingWriteStopSeconds", PendingWrites.stopSeconds, "seconds for them when the server stops"
    ),
    (
      "pendingWriteSettleSeconds", PendingWrites.settleSeconds,
      "seconds for them when a guest signs up or logs in"
    ),
  ]

  private static let sync: [(String, Int, String)] = [
    ("syncDocumentBytes", CouchLimits.document.maximumBytes, "bytes with the `_` fields"),
    ("bulkBytes", CouchLimits.bulk.maximumBytes, "bytes"),
    ("bulkDocuments", CouchLimits.bulkDocuments, "documents"),
    ("commitDocuments", CouchLimits.commitDocuments, "documents"),
    ("commitAttachments", CouchLimits.commitAttachments, "attachments"),
    ("commitMilliseconds", CouchLimits.commitMilliseconds, "milliseconds"),
    ("answerBytes", CouchLimits.answerBytes, "bytes"),
    ("askedRevisions", CouchLimits.askedRevisions, "revisions"),
    ("filteredDocuments", CouchLimits.filteredDocuments, "documents"),
    ("documentQueries", CouchLimits.queries, "queries"),
    ("uuids", CouchLimits.uuids, "ids"),
    ("databaseNameBytes", DatabaseName.maximumBytes, "bytes"),
    ("askedDatabases", DatabaseNamesQuery.maximumKeys, "databases"),
    ("securityNames", SecurityDocument.maximumNames, "names or roles in one list"),
    ("purgedDocuments", PurgeRequest.maximumDocuments, "documents"),
    ("purgedRevisions", PurgeRequest.maximumRevisions, "revisions"),
    ("purgeMarkDays", ClosedBranches.days, "days that purged revisions are known"),
    ("purgeMarks", ClosedBranches.maximumMarks, "marks of two revisions each per document"),
  ]

  private static let feeds: [(String, Int, String)] = [
    ("feeds", Feeds.total, "feeds that wait, and sessions of Couchbase Lite"),
    ("feedsPerPrincipal", Feeds.perPrincipal, "feeds that wait"),
    ("feedsPerAddress", Feeds.perAddress, "feeds that wait"),
    ("feedHeartbeatMinimum", CouchFeed.shortestBeat, "milliseconds"),
    ("feedHeartbeatMaximum", CouchFeed.longestBeat, "milliseconds"),
    ("feedTimeout", CouchFeed.longestWait, "milliseconds"),
    ("feedWriteBytes", Feeds.chunkBytes, "bytes a client takes in idleSeconds"),
    ("changesPageRows", CouchLimits.pageRows, "rows"),
    ("changesPageBytes", CouchLimits.pageBytes, "bytes of rows"),
    ("changesPageScan", CouchLimits.pageScan, "changes looked at"),
    ("changesPageScanBytes", CouchLimits.pageScanBytes, "bytes of documents matched"),
    ("changesPageMatching", CouchLimits.pageMatchingMilliseconds, "milliseconds"),
    ("sinceBytes", SinceToken.maximumBytes, "bytes"),
  ]

  private static let lite: [(String, Int, String)] = [
    ("liteMessageBytes", blip(.standard).messageBytes, "bytes of a message of Couchbase Lite"),
    ("liteOpenBytes", blip(.standard).openBytes, "bytes of incomplete messages of a session"),
    ("liteOpenMessages", BLIPLimits.openMessages, "incomplete messages of a session"),
    ("litePropertyBytes", BLIPLimits.propertyBytes, "bytes of a message's properties"),
    ("liteUnanswered", BLIPLimits.unanswered, "requests of a session without an answer"),
    ("liteAttachments", LiteExchange.attachmentsAtOnce, "attachments sent at once in a session"),
    ("liteProposals", LiteSession.maximumProposals, "revisions proposed at once"),
  ]

  private static let queries: [(String, Int, String)] = [
    ("selectorDepth", SelectorLimits.depth, "levels"),
    ("selectorNodes", SelectorLimits.nodes, "operators, fields and values"),
    ("selectorValues", SelectorLimits.values, "values in lists"),
    ("selectorAllValues", SelectorLimits.allValues, "JSON values"),
    ("selectorPatternUnits", SelectorLimits.patternUnits, "UTF-16 units"),
    ("selectorPatternInstructions", SelectorLimits.patternInstructions, "estimated instructions"),
    ("selectorPatternMemory", SelectorLimits.patternMemoryBytes, "bytes per selector"),
    ("selectorMatching", SelectorLimits.matchingMilliseconds, "milliseconds per query"),
    ("selectorPatternMatching", SelectorLimits.patternMilliseconds, "milliseconds per text"),
    ("indexes", QueryLimits.definitions, "indexes per store"),
    ("indexFields", QueryLimits.indexFields, "fields per index or sort"),
    ("indexKeyBytes", QueryLimits.keyBytes, "bytes"),
    ("indexDesignDocuments", QueryLimits.designDocuments, "design documents"),
    ("indexDesignBytes", QueryLimits.designBytes, "bytes"),
    ("indexCatchUpChanges", QueryLimits.catchUpChanges, "changes per commit"),
    ("projectedFields", QueryLimits.projectedFields, "fields"),
    ("indexBulkDeletes", QueryLimits.bulkDeletes, "design documents"),
  ]
}
