package import Documents
import Stores

/// The revision that a writer saw. A request can contain it three times.
package struct BaseRevision: Sendable {
  /// The revision; nil when the request contains none.
  package let revision: RevisionID?
  /// What to say when the document's own revision differs.
  private let difference: String

  /// Reads the revision from the query and the header.
  /// - Parameter query: the parameter `rev`.
  /// - Parameter ifMatch: the header `If-Match`, with or without quotation marks.
  /// - Throws: 400 `bad_request` when one is malformed or they differ.
  package init(query: String?, ifMatch: String?) throws {
    let first = try query.map { try RevisionID($0) }
    let second = try ifMatch.map { try RevisionID(Self.unquoted($0)) }
    if let first, let second, first != second { throw ServiceError.badRequest(Self.otherTag) }
    revision = first ?? second
    difference = first == nil ? Self.otherTag : Self.otherQuery
  }

  /// The revision, after comparing it with the document's own `_rev`.
  /// - Throws: 400 `bad_request` when they differ.
  func reconcile(with own: RevisionID?) throws -> RevisionID? {
    if let own, let revision, own != revision { throw ServiceError.badRequest(difference) }
    return own ?? revision
  }

  private static let otherTag = "Document rev and etag have different values"
  private static let otherQuery =
    "Document rev from request body and query string have different values"

  private static func unquoted(_ text: String) -> String {
    let bytes = text.utf8
    guard bytes.count >= 2, bytes.first == 0x22, bytes.last == 0x22 else { return text }
    return String(Substring(bytes.dropFirst().dropLast()))
  }
}

extension BaseRevision {
  package static let none = BaseRevision()

  private init() { (revision, difference) = (nil, "") }
}
