import CouchQuery
import Documents
import Stores

@testable import CouchSync
@testable import Hotels

/// Request bodies: each is accepted, or refused with a status from 400 to 501.
enum BodyFuzzing {
  static func check(_ bytes: [UInt8]) {
    guard let kind = bytes.first else { return }
    let rest = Array(bytes.dropFirst())
    guard let node = attempt({ try CouchBody.object(rest) }) else { return }
    switch kind % 12 {
    case 0:
      refusedOrTaken {
        let request = try BulkRequest(node)
        for element in request.elements {
          _ = try BulkEntry(element, isNewEdit: request.isNewEdit, limits: .standard)
        }
      }
    case 1:
      refusedOrTaken {
        for element in try CouchBody.documents(in: node) { _ = try? BulkGetRequest.Entry(element) }
      }
    case 2:
      refusedOrTaken {
        for member in node.members { _ = try RevisionsRequest.revisions(member.value) }
      }
    case 3: refusedOrTaken { _ = try PurgeRequest(node) }
    case 4: refusedOrTaken { _ = try SecurityDocument(node) }
    case 5: refusedOrTaken { _ = try FindRequest(node) }
    case 6: refusedOrTaken { _ = try IndexRequest(node) }
    case 7: checkDesign(node)
    case 8: refusedOrTaken { _ = try ChangesFilter(parameters(node), body: node) }
    case 9: refusedOrTaken { _ = try DocumentQuery(parameters(node)) }
    case 10: refusedOrTaken { _ = try LocalWrite(node) }
    default: checkBatch(node)
    }
  }

  private static func refusedOrTaken(_ body: () throws -> Void) {
    do {
      try body()
    } catch {
      claim(ServiceError(error)?.code.isOfStorage == false, "a client's error")
    }
  }

  /// A query's parameters, made from an object's members.
  private static func parameters(_ node: JSONNode) -> CouchParameters {
    CouchParameters(
      node.members.map { member in
        let raw = String(decoding: member.value.minified, as: UTF8.self)
        return (member.name, member.value.string ?? raw)
      })
  }

  private static func checkDesign(_ node: JSONNode) {
    guard let body = attempt({ try DocumentBody(node) }) else { return }
    _ = IndexDefinition.all(in: DocumentID(stored: "_design/x"), body.bytes)
  }

  private static func checkBatch(_ node: JSONNode) {
    do {
      _ = try BookmarkBatch(parsing: node)
    } catch {
      claim(!(ServiceError(error)?.reason.isEmpty ?? true), "a reason")
    }
    if let hotel = attempt({ try Hotel(node, from: .client) }) {
      claim(HotelID(hotel.id.text) == hotel.id, "a hotel with a good id")
    }
  }
}
