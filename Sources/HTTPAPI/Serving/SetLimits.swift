import Documents
import Lists
package import Stores

/// The limits that an operator has set, for `GET /v1/limits`.
package struct SetLimits: Sendable, Equatable {
  /// The limits of the administrator's databases; an unlimited one is omitted.
  package var databases = StoreLimits.database
  /// The days after which people's stores and lists forget deleted documents.
  package var tombstoneDays = 90
  /// The bytes of the disk that are kept for guests, users and lists that are there already.
  package var keptBytes: Int64 = 1 << 30
  /// The bytes that new guests of one address may write in a day.
  package var guestBytesPerDay: Int64 = 1 << 30
  /// The bytes of all lists of one owner.
  package var ownedListBytes = ListLimits.ownedBytes
  /// The bytes of a guest's store with all it holds.
  package var guestOverallBytes = StoreLimits.guest.overallBytes

  /// The defaults.
  package init() {}

  /// Names, values and units.
  var rows: [(String, Int, String)] {
    let rows = [
      ("databaseDocuments", Int(databases.documents), "documents"),
      ("databaseBytes", Int(databases.bytes), "bytes"),
      ("databaseDocumentBytes", databases.documentBytes, "bytes"),
      ("databaseTreeBytes", databases.history.treeBytes, "bytes of revision ids per document"),
      ("databaseLeaves", databases.history.liveLeaves, "live leaves per document"),
      ("keptBytes", Int(keptBytes), "free bytes of the disk below which no newcomers are taken"),
      (
        "guestBytesPerDay", Int(guestBytesPerDay),
        "bytes that guests of one address write in their first day"
      ),
      ("ownedListBytes", Int(ownedListBytes), "bytes of all lists that an account owns"),
      ("guestOverallBytes", Int(guestOverallBytes), "bytes of a guest's store, with all it holds"),
    ]
    return rows.filter { $0.1 != .max }
      + [("tombstoneDays", tombstoneDays, "days that tombstones are kept, and then marks")]
  }
}
