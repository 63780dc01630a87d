import Documents
import Stores

/// `GET /_uuids`: new ids for clients that name their documents before they send them.
///
/// Source: CouchDB, "GET /_uuids".
package enum CouchUUIDs {
  /// Returns `count` ids of 32 hexadecimal digits; one when `count` is absent.
  /// - Throws: 400 for a `count` that is not a number or is above ``CouchLimits/uuids``.
  package static func answer(_ parameters: CouchParameters) throws -> CouchAnswer {
    let text = parameters["count"] ?? "1"
    guard (1...18).contains(text.utf8.count),
      text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let count = Int(text)
    else { throw ServiceError.badRequest("count must be a positive integer") }
    guard count <= CouchLimits.uuids else {
      throw ServiceError.badRequest("count parameter too large")
    }
    return CouchAnswer(
      JSONWriter.object(reserving: count * 36 + 16) { writer in
        writer.array("uuids", of: 0..<count) { $1.string(DocumentID.untitled().text) }
      })
  }
}
