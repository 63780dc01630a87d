import Accounts
import Documents
import Hotels
import Stores

/// Every limit with its unit, as `GET /v1/limits` shows them.
enum Limits {
  /// `{"limits":[{"name","value","unit"}…]}`.
  static let json: [UInt8] = {
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("limits")
    writer.beginArray()
    for (name, value, unit) in rows {
      writer.beginObject()
      writer.member("name", name)
      writer.member("value", value)
      writer.member("unit", unit)
      writer.endObject()
    }
    writer.endArray()
    writer.endObject()
    return writer.bytes
  }()

  private static let rows: [(String, Int, String)] =
    documents + stores + requests

  private static let documents: [(String, Int, String)] = [
    ("documentBytes", JSONLimits.document.maximumBytes, "bytes"),
    ("documentDepth", JSONLimits.document.maximumDepth, "levels"),
    ("documentMembers", JSONLimits.document.maximumMembers, "members per object"),
    ("stringBytes", JSONLimits.document.maximumStringBytes, "bytes"),
    ("numberDigits", JSONLimits.document.maximumNumberDigits, "digits"),
    ("numberExponent", JSONLimits.document.maximumExponent, "decimal exponent"),
    ("documentIDBytes", DocumentID.maximumBytes, "bytes"),
    ("revisions", RevisionTree.defaultRevisionLimit, "revision ids per branch"),
    ("leaves", RevisionTree.maximumLeaves, "live leaves per document"),
    ("closedLeaves", RevisionTree.maximumClosedLeaves, "tombstone leaves per document"),
    ("storedAncestors", StoreLimits.storedAncestors, "bodies per document"),
  ]

  private static let stores: [(String, Int, String)] = [
    ("guestDocuments", Int(StoreLimits.guest.documents), "documents"),
    ("guestBytes", Int(StoreLimits.guest.bytes), "bytes"),
    ("storeDocuments", Int(StoreLimits.full.documents), "documents"),
    ("storeBytes", Int(StoreLimits.full.bytes), "bytes"),
    ("pendingUpdates", StoreLimits.pendingUpdates, "updates per store"),
  ]

  private static let requests: [(String, Int, String)] = [
    ("uriBytes", RequestTarget.maximumBytes, "bytes"),
    ("headerBytes", RequestLimits.headerBytes, "bytes"),
    ("headerFields", RequestLimits.headerFields, "fields"),
    ("idleSeconds", RequestLimits.idleSeconds, "seconds"),
    ("usernameBytes", UserName.maximumBytes, "bytes"),
    ("passwordMinimumBytes", PasswordRule.bytes.lowerBound, "bytes"),
    ("passwordMaximumBytes", PasswordRule.bytes.upperBound, "bytes"),
    ("hotelBytes", BookmarkLimits.hotelBytes, "bytes"),
    ("batchBytes", JSONLimits.document.maximumBytes, "bytes"),
    ("batchItems", BookmarkLimits.batchItems, "hotels"),
    ("searchTextBytes", HotelQuery.maximumTextBytes, "bytes"),
    ("searchLimit", HotelQuery.maximumLimit, "hotels"),
    ("searchOffset", HotelQuery.maximumOffset, "hotels"),
    ("idempotencyKeyBytes", BookmarkLimits.receiptKeyBytes, "bytes"),
    ("idempotencySeconds", Int(BookmarkLimits.receiptSeconds), "seconds"),
  ]
}
