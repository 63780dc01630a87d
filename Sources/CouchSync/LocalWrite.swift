import Documents
package import JSON
import Stores

/// A local document that a client sends.
package struct LocalWrite: Sendable {
  /// How often the writer saw it written; nil when it believes it absent.
  let base: Int64?
  /// Whether it is to be removed.
  let isDeleted: Bool
  /// What it says.
  let body: DocumentBody

  /// Reads a body. Its `_id` counts only where no path names the document; `_revisions`, which CouchDB's replicator
  /// sends along, has no meaning here.
  /// - Throws: 400 for fields that make no document; 413; 415 for attachments.
  package init(
    _ node: JSONNode, limits: DocumentLimits = .standard
  ) throws {
    guard node.kind == .object else {
      throw ServiceError.badRequest("Document must be a JSON object")
    }
    for member in node.members where member.nameStartsWithUnderscore { try Self.check(member) }
    base = try node["_rev"]?.string.map { text in try LocalRevision.read(text) }
    isDeleted = node["_deleted"]?.bool ?? false
    body = try DocumentBody(node)
    guard body.bytes.count <= limits.bytes else {
      throw ServiceError(.documentTooLarge, "Document is too large: at most \(limits.bytes) bytes")
    }
  }

  /// What the write leaves: the revision that was sent and one more, whatever is stored. CouchDB 3 looks for no
  /// conflict here: only one replicator writes a checkpoint, and one that was lost is to be written again.
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
    case "_attachments":
      throw ServiceError(.attachmentsUnsupported, "Attachments are not supported")
    case let name:
      guard IncomingDocument.takes(name) else { throw invalid(name) }
    }
  }

  private static func invalid(_ name: String) -> ServiceError {
    ServiceError(.invalidDocument, "Bad special document member: \(name.prefix(64))")
  }
}

extension LocalID {
  /// The id of a local document in a request that names it in the document; nil for one that is replicated.
  /// - Throws: 400 for one that is none.
  init?(of node: JSONNode) throws {
    guard let text = node["_id"]?.string, text.utf8.starts(with: Self.clientPrefix.utf8) else {
      return nil
    }
    try self.init(client: text)
  }
}

/// A local document's revision, `0-N`: how often it was written; `0-0` of one that was removed.
///
/// Source: CouchDB, "Local (non-replicating) documents".
enum LocalRevision {
  /// The revision as clients see it.
  static func text(_ count: Int64) -> String { "0-\(count)" }

  /// The revision as an entity tag.
  static func tag(_ count: Int64) -> RevisionID {
    RevisionID(generation: 0, digest: String(count))
  }

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

extension LocalDocument {
  /// Writes the document as JSON, with its `_id` and `_rev`.
  func append(as id: LocalID, to writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("_id", id.text)
    writer.member("_rev", LocalRevision.text(revision))
    writer.members(of: body)
    writer.endObject()
  }
}
