import Documents
import Scheduling

/// One parsed line of an export; see ``ExportFormat``.
enum ImportedLine: Sendable {
  /// The first line.
  case header
  /// The start of a section.
  case section(String)
  /// A document without its bodies.
  case document(ImportedDocument)
  /// A body of a revision of the document before, and which bytes its attachments have.
  case body(RevisionID, DocumentBody, [AttachmentName: AttachmentKey])
  /// The start of an attachment: the SHA-256 and the length of its bytes.
  case attachment(AttachmentKey, length: Int)
  /// The next bytes of the attachment.
  case data([UInt8])
  /// One of the service's own notes, without ``LocalID/receiptPrefix``.
  case note(String, LocalDocument)
  /// The end of a section.
  case end(String)
  /// The last line.
  case manifest(Manifest)

  /// The content of the last line.
  struct Manifest: Sendable {
    let counts: ExportCounts
    let lines: Int
    let bytes: Int
    let digest: String
  }

  /// Why a line is invalid: the end of a sentence that says what to change.
  struct Fault: Error {
    let reason: String
  }

  /// Reads a line. Lets other work run between its parts.
  /// - Parameter limits: the limits of the store.
  /// - Throws: ``Fault``; ``JSONError``, ``DocumentError``; `ended`.
  static func read(_ bytes: [UInt8], limits: StoreLimits) async throws -> ImportedLine {
    var reader = JSONReader(bytes, limits: ExportFormat.limits)
    var parsed = try reader.next()
    while parsed == nil {
      try await Slice.giveWay()
      parsed = try reader.next()
    }
    guard let root = parsed?.root, root.kind == .object else {
      throw Fault(reason: "it must be a JSON object")
    }
    if root["id"] != nil { return .document(try await document(root, limits.history)) }
    if let rev = root["rev"] { return try body(rev, root, limits) }
    if let key = root["attachment"] { return try attachment(key, root["length"], limits) }
    if let data = root["data"] { return try self.data(data) }
    if let name = root["note"] { return try note(name, root, limits) }
    if let name = root["section"]?.string { return .section(name) }
    if let name = root["end"]?.string { return .end(name) }
    if let manifest = root["manifest"] { return try self.manifest(manifest) }
    guard root["export"] != nil else {
      throw Fault(
        reason: "it must have one of export, section, id, rev, attachment, data, note, end and "
          + "manifest")
    }
    return try header(root)
  }

  private static func header(_ root: JSONNode) throws -> ImportedLine {
    guard root["export"]?.stringEquals(ExportFormat.name) ?? false else {
      throw Fault(reason: "export must be \"\(ExportFormat.name)\"")
    }
    guard let version = root["version"]?.int, version == ExportFormat.version else {
      throw Fault(reason: "version must be \(ExportFormat.version), the one that this server knows")
    }
    return .header
  }

  private static func document(
    _ root: JSONNode, _ limits: HistoryLimits
  ) async throws -> ImportedDocument {
    guard let text = root["id"]?.string else { throw Fault(reason: "id must be a string") }
    let (created, updated) = (try time("created", in: root), try time("updated", in: root))
    guard let history = root["history"], history.kind == .array else {
      throw Fault(reason: "history must be a list of revisions")
    }
    var list: [RevisionTree.Listed] = []
    var bytes = 0
    for element in history.elements {
      let listed = try revision(element, at: list.count)
      list.append(listed)
      bytes += listed.revision.description.utf8.count / 2
      guard bytes <= limits.treeBytes else {
        throw Fault(reason: "history has more revisions than a document may have")
      }
      try await Slice.giveWay()
    }
    var tree = try RevisionTree(list, within: limits)
    if let closed = root["closed"] {
      guard let bytes = closed.string.flatMap({ Hex.bytes($0.utf8) }),
        (try? tree.remember(closed: bytes)) != nil,
        tree.markCount <= ClosedBranches.maximumMarks
      else { throw Fault(reason: "closed must be as it was exported") }
    }
    return ImportedDocument(
      id: try DocumentID(text), tree: tree, created: created, updated: updated)
  }

  private static func revision(_ node: JSONNode, at index: Int) throws -> RevisionTree.Listed {
    if let text = node.string {
      return RevisionTree.Listed(
        revision: try RevisionID(text), parent: index == 0 ? nil : index - 1, isDeleted: false)
    }
    guard let text = node["rev"]?.string else {
      throw Fault(reason: "history must consist of texts and of objects with a rev")
    }
    let parent = node["parent"]
    guard parent == nil || parent?.int != nil else {
      throw Fault(reason: "parent must be a place in history, counted from 0")
    }
    return RevisionTree.Listed(
      revision: try RevisionID(text), parent: parent?.int,
      isDeleted: node["deleted"]?.bool ?? false)
  }

  private static func time(_ name: String, in root: JSONNode) throws -> Timestamp {
    guard let time = root[name]?.string.flatMap(Timestamp.init(rfc3339:)) else {
      throw Fault(reason: "\(name) must be a time in UTC such as 2026-11-21T02:09:00.000Z")
    }
    return time
  }

  private static func body(
    _ rev: JSONNode, _ root: JSONNode, _ limits: StoreLimits
  ) throws -> ImportedLine {
    guard let text = rev.string, let node = root["body"], node.kind == .object else {
      throw Fault(reason: "rev must be a revision, and body the object that it says")
    }
    let body = try DocumentBody(node)
    guard body.bytes.count <= limits.documentBytes else {
      throw Fault(reason: "body must have at most \(limits.documentBytes) bytes")
    }
    var keys: [AttachmentName: AttachmentKey] = [:]
    if let attachments = root["attachments"] {
      guard attachments.kind == .object else {
        throw Fault(reason: "attachments must be an object")
      }
      for member in attachments.members {
        keys[try AttachmentName(member.name)] = try key(member.value)
      }
    }
    return .body(try RevisionID(text), body, keys)
  }

  private static func key(_ node: JSONNode) throws(Fault) -> AttachmentKey {
    guard let text = node.string, let bytes = Hex.bytes(text.utf8), bytes.count == 32 else {
      throw Fault(reason: "an attachment must be the SHA-256 of its bytes")
    }
    return AttachmentKey(stored: Hex.string(bytes))
  }

  private static func attachment(
    _ node: JSONNode, _ length: JSONNode?, _ limits: StoreLimits
  ) throws -> ImportedLine {
    guard let length = length?.int, (0...limits.attachmentBytes).contains(length) else {
      throw Fault(reason: "length must be a number of bytes, at most \(limits.attachmentBytes)")
    }
    return .attachment(try key(node), length: length)
  }

  private static func data(_ node: JSONNode) throws -> ImportedLine {
    guard let text = node.string, text.utf8.count <= 2 * AttachmentLimits.pieceBytes,
      let bytes = Base64.bytes(Array(text.utf8))
    else { throw Fault(reason: "data must be a part of an attachment in Base64") }
    return .data(bytes)
  }

  private static func note(
    _ name: JSONNode, _ root: JSONNode, _ limits: StoreLimits
  ) throws -> ImportedLine {
    guard let text = name.string, (1...DocumentID.maximumBytes).contains(text.utf8.count),
      !text.utf8.contains(0), let revision = root["revision"]?.int, revision > 0,
      let body = root["body"], body.kind == .object
    else { throw Fault(reason: "note must be a name, revision a count from 1, and body an object") }
    let bytes = body.minified
    guard bytes.count <= limits.documentBytes else {
      throw Fault(reason: "body must have at most \(limits.documentBytes) bytes")
    }
    return .note(text, LocalDocument(revision: Int64(revision), body: bytes))
  }

  private static func manifest(_ node: JSONNode) throws -> ImportedLine {
    var counts = ExportCounts()
    guard let documents = node["documents"]?.int, let tombstones = node["tombstones"]?.int,
      let bodies = node["bodies"]?.int, let notes = node["notes"]?.int,
      let lines = node["lines"]?.int, let bytes = node["bytes"]?.int,
      let digest = node["sha256"]?.string
    else { throw Fault(reason: "manifest must have all the sums that were exported") }
    (counts.documents, counts.tombstones) = (documents, tombstones)
    (counts.bodies, counts.notes) = (bodies, notes)
    return .manifest(Manifest(counts: counts, lines: lines, bytes: bytes, digest: digest))
  }
}
