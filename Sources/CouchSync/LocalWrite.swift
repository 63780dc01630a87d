package import Documents
import Stores

/// A local document that a client sends.
package struct LocalWrite: Sendable {
  /// The number of the revision that the writer saw; nil when the writer sent none.
  let base: Int64?
  let isDeleted: Bool
  let body: DocumentBody

  /// Reads a body. Its `_id` counts only when the path names no document; `_revisions`, which CouchDB's replicator also
  /// sends, is ignored. So are attachments, as in CouchDB: a local document has none.
  /// - Parameter body: the document's body if it has been read; see ``DocumentBody/readLong(_:)``.
  /// - Throws: 400 for invalid fields; 413.
  package init(
    _ node: JSONNode, read body: DocumentBody? = nil, limits: DocumentLimits = .standard
  ) throws {
    guard node.kind == .object else {
      throw ServiceError.badRequest("Document must be a JSON object")
    }
    for member in node.members where member.nameStartsWithUnderscore { try Self.check(member) }
    base = try node["_rev"]?.string.map { text in try LocalRevision.read(text) }
    isDeleted = node["_deleted"]?.bool ?? false
    self.body = try body ?? DocumentBody(node, attachments: false)
    do {
      try limits.check(self.body, longestString: node.longestStringOfText)
    } catch { throw ServiceError(error) }
  }

  /// The document after the write: its revision is the sent one plus one, whatever is stored; nil when it is removed.
  /// CouchDB 3 does not check for conflicts here: only one replicator writes a checkpoint, and a lost checkpoint must
  /// be writable again.
  var stored: LocalDocument? {
    isDeleted ? nil : LocalDocument(revision: (base ?? 0) &+ 1, body: body.bytes)
  }

  private static func check(_ member: JSONMember) throws {
    switch member.name {
    case "_id":
      guard member.value.kind == .string else {
        throw ServiceError(.invalidID, "Document id must be a string")
      }
    case "_rev":
      guard member.value.kind == .string else {
        throw ServiceError.badRequest("Invalid rev format")
      }
    case "_deleted":
      guard member.value.bool != nil else { throw invalid("_deleted") }
    case DocumentBody.attachmentsName: break
    case let name:
      guard IncomingDocument.takes(name) else { throw invalid(name) }
    }
  }

  private static func invalid(_ name: String) -> ServiceError {
    ServiceError(.invalidDocument, "Bad special document member: \(name.prefix(64))")
  }
}

/// A local document's revision `0-N`: N is the number of its writes; `0-0` for a removed document.
///
/// Source: CouchDB, "Local (non-replicating) documents".
enum LocalRevision {
  /// The revision as clients see it.
  static func text(_ count: Int64) -> String { "0-\(count)" }

  /// The revision as an entity tag.
  static func tag(_ count: Int64) -> RevisionID { RevisionID(generation: 0, digest: String(count)) }

  /// Reads `0-N`.
  /// - Throws: 400 `bad_request`.
  static func read(_ text: String) throws -> Int64 {
    let bytes = text.utf8
    let digits = bytes.dropFirst(2)
    guard bytes.starts(with: "0-".utf8), (1...18).contains(digits.count),
      digits.allSatisfy({ (0x30...0x39).contains($0) }), let count = Int64(Substring(digits))
    else { throw ServiceError.badRequest("Invalid rev format") }
    return count
  }
}
