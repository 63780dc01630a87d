package import Documents

/// A revision as a peer names it when it asks what is stored here.
///
/// CouchDB accepts any text after the generation, and any generation. Some of that can't be stored here, so nothing of
/// it is known. A question for such a revision must not fail the questions beside it: a replicator would send the same
/// batch again for ever. The revision counts as missing, and the write that follows refuses it alone.
package enum NamedRevision: Hashable, Sendable {
  /// A revision that can be stored.
  case storable(RevisionID)
  /// A revision of CouchDB's form that can't be stored, as it was sent.
  case other(String)

  /// Reads a revision.
  /// - Throws: ``DocumentError`` with code `invalidRevision` for what is no revision in CouchDB either.
  package init(_ text: String) throws(DocumentError) {
    do { self = .storable(try RevisionID(text)) } catch {
      guard Self.isCouchDBs(text) else { throw error }
      self = .other(text)
    }
  }

  /// The revision; nil for one that can't be stored.
  package var revision: RevisionID? {
    guard case .storable(let revision) = self else { return nil }
    return revision
  }

  /// The revision as it was sent.
  package var text: String {
    switch self {
    case .storable(let revision): revision.description
    case .other(let text): text
    }
  }

  /// Whether CouchDB accepts a text as a revision: digits, and any text after a dash.
  static func isCouchDBs(_ text: String) -> Bool {
    let bytes = text.utf8
    guard let dash = bytes.firstIndex(of: 0x2D) else { return false }
    return dash > bytes.startIndex && bytes[..<dash].allSatisfy { (0x30...0x39).contains($0) }
  }

  package static func == (left: NamedRevision, right: NamedRevision) -> Bool {
    switch (left, right) {
    case (.storable(let left), .storable(let right)): left == right
    case (.other(let left), .other(let right)): left.equalsBytes(of: right)
    default: false
    }
  }

  package func hash(into hasher: inout Hasher) { text.hashBytes(into: &hasher) }
}
