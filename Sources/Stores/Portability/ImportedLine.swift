import Documents
import JSON
import Lanes

/// One parsed line of an export; see ``ExportFormat``.
enum ImportedLine: Sendable {
  /// The first line.
  case header
  /// The start of a section.
  case section(String)
  /// A document without its bodies.
  case document(ImportedDocument)
  /// A body of a revision of the document before.
  case body(RevisionID, DocumentBody)
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
    if let rev = root["rev"] { return try body(rev, root["body"], limits) }
    if let name = root["note"] { return try note(name, root, limits) }
    if let name = root["section"]?.string { return .section(name) }
    if let name = root["end"]?.string { return .end(name) }
    if let manifest = root["manifest"] { return try self.manifest(manifest) }
    guard root["export"] != nil else {
      throw Fault(
        reason: "it must have one of export, section, id, rev, note, end and manifest")
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

  private static func revision(
    _ node: JSONNode, at index: Int
  ) throws -> RevisionTree.Listed {
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
    _ rev: JSONNode, _ node: JSONNode?, _ limits: StoreLimits
  ) throws -> ImportedLine {
    guard let text = rev.string, let node, node.kind == .object else {
      throw Fault(reason: "rev must be a revision, and body the object that it says")
    }
    let body = try DocumentBody(node)
    guard body.bytes.count <= limits.documentBytes else {
      throw Fault(reason: "body must have at most \(limits.documentBytes) bytes")
    }
    return .body(try RevisionID(text), body)
  }

  private static func note(
    _ name: JSONNode, _ root: JSONNode, _ limits: StoreLimits
  ) throws -> ImportedLine {
    guard let text = name.string, (1...DocumentID.maximumBytes).contains(text.utf8.count),
      !text.utf8.contains(0), let revision = root["revision"]?.int, revision > 0,
      let body = root["body"], body.kind == .object
    else {
      throw Fault(reason: "note must be a name, revision a count from 1, and body an object")
    }
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

/// A document of an import while its bodies arrive.
struct ImportedDocument: Sendable {
  private(set) var id: DocumentID
  /// The document's complete history.
  let tree: RevisionTree
  /// When the document was created, or restored after a tombstone.
  let created: Timestamp
  let updated: Timestamp

  /// Bodies that have arrived and are not yet part of a mutation, in order.
  private var waiting: [AddedRevision] = []
  /// Whether a part of the document is already in a mutation.
  private(set) var isBegun = false
  private(set) var waitingBytes = 0
  private var known: Set<RevisionID> = []
  private var leavesMissing: Int

  init(id: DocumentID, tree: RevisionTree, created: Timestamp, updated: Timestamp) {
    self.id = id
    self.tree = tree
    self.created = created
    self.updated = updated
    leavesMissing = tree.nodes.count { $0.isLeaf }
  }

  func called(_ id: DocumentID) -> ImportedDocument {
    var document = self
    document.id = id
    return document
  }

  /// Whether every leaf has its body.
  var isWhole: Bool { leavesMissing == 0 }

  /// Adds a body.
  /// - Throws: ``ImportedLine/Fault`` when the revision is not in the document's history or came before, or
  ///   when the first body is not the winner's.
  mutating func take(_ revision: RevisionID, _ body: DocumentBody) throws(ImportedLine.Fault) {
    guard let node = tree[revision] else {
      throw ImportedLine.Fault(reason: "\(revision) is not in the history of \(id.text)")
    }
    guard !known.isEmpty || revision == tree.winner?.revision else {
      throw ImportedLine.Fault(reason: "the winner's body must come before the others")
    }
    guard known.insert(revision).inserted else {
      throw ImportedLine.Fault(reason: "the body of \(revision) came before")
    }
    if node.isLeaf { leavesMissing -= 1 }
    waiting.append(AddedRevision(revision: revision, body: body, isDeleted: node.isDeleted))
    waitingBytes += body.bytes.count
  }

  /// The mutation that stores the waiting bodies; nil when there are none.
  mutating func takeMutation() -> Mutation? {
    // The first mutation contains the winner's body, so the document is readable from then on.
    guard let last = waiting.popLast() else { return nil }
    var mutation = Mutation(
      id: id, tree: tree, revision: last.revision, body: last.body, created: created)
    mutation.further = waiting
    mutation.updated = updated
    (waiting, waitingBytes, isBegun) = ([], 0, true)
    return mutation
  }
}

/// The store into which a section is imported.
package struct ImportTarget: Sendable {
  let quota: StoreLimits
  private let run:
    @Sendable (_ use: @Sendable (DocumentStore) async throws -> Bool) async throws -> Bool
  /// The list's id in the export and its new id; nil for the account's own store.
  private let list: (former: String, present: String)?

  /// Creates a target from a store that no one else uses.
  package init(_ store: DocumentStore) {
    quota = store.quota
    run = { use in try await use(store) }
    list = nil
  }

  /// Creates a target from a shared list's store that no client knows yet. In the ids of documents the list's
  /// former id is replaced by its new id.
  /// - Parameter former: the list's id in the export.
  package init(list present: AccountID, calledBefore former: AccountID, in stores: DatabaseManager)
  {
    quota = stores.limits(of: .list(present))
    run = { use in
      try await stores.withExisting(.list(present)) { store in try await use(store) }
    }
    list = (former.text, present.text)
  }

  func has(_ id: DocumentID) async throws -> Bool {
    try await run { store in try await store.readInline { view in try view.tree(id) } != nil }
  }

  func write(_ mutations: [Mutation], _ notes: [LocalEdit]) async throws {
    _ = try await run { store in
      try await store.update(loading: Set(mutations.map(\.id))) { changes in
        changes.isWhole = true
        for mutation in mutations { changes.write(mutation) }
        for note in notes { changes.write(note) }
      }
      return true
    }
  }

  /// The new id of a document.
  func id(_ id: DocumentID) throws -> DocumentID {
    guard let list, id.text.utf8.starts(with: list.former.utf8) else { return id }
    let rest = id.text.utf8.dropFirst(list.former.utf8.count)
    guard rest.isEmpty || rest.first == UInt8(ascii: ":") else { return id }
    return try DocumentID(list.present + String(Substring(rest)))
  }

  /// The new body of a revision: a note names its list by the list's new id.
  func body(_ body: DocumentBody) throws -> DocumentBody {
    guard let list, var members = try JSONValue(parsing: body.bytes, limits: .stored).object,
      members["wiki_id"]?.string?.equalsBytes(of: list.former) == true
    else { return body }
    members["wiki_id"] = .string(list.present)
    return try DocumentBody(.object(members))
  }
}
