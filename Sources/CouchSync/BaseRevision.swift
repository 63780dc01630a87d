package import Documents

/// The revision that a writer saw, which a request can name in three places.
package struct BaseRevision: Sendable {
  /// The revision, if any place names one.
  package let revision: RevisionID?

  /// Takes what the places say.
  /// - Parameter query: the parameter `rev`.
  /// - Parameter ifMatch: the header `If-Match`, in quotation marks or without.
  /// - Throws: 400 `bad_request` when one is malformed or they differ.
  package init(query: String?, ifMatch: String?) throws(CouchError) {
    let first = try query.map { text throws(CouchError) in try Self.read(Substring(text)) }
    let second = try ifMatch.map { text throws(CouchError) in
      try Self.read(Self.unquoted(text))
    }
    if let first, let second, first != second {
      throw .badRequest("Document rev and etag have different values")
    }
    revision = first ?? second
  }

  /// The revision, agreed upon with the document's own `_rev`.
  /// - Throws: 400 `bad_request` when they differ.
  func agreed(with own: RevisionID?) throws(CouchError) -> RevisionID? {
    if let own, let revision, own != revision {
      throw .badRequest("Document rev from request body and query string have different values")
    }
    return own ?? revision
  }

  private static func read(_ text: Substring) throws(CouchError) -> RevisionID {
    do { return try RevisionID(String(text)) } catch { throw CouchError(error) }
  }

  private static func unquoted(_ text: String) -> Substring {
    let bytes = text.utf8
    guard bytes.count >= 2, bytes.first == 0x22, bytes.last == 0x22 else { return Substring(text) }
    return Substring(bytes.dropFirst().dropLast())
  }
}

extension BaseRevision {
  /// No place names a revision.
  package static let none = BaseRevision()

  private init() { revision = nil }
}
