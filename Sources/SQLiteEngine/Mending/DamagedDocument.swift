import Documents
import JSON
import SQLite
import Stores

/// A document of which something is not what was written: all that the file has of it.
struct DamagedDocument {
  /// The columns before body and tree.
  var head: RowValues
  /// The winner's body.
  var body: RowValues
  /// The history; nil for one revision.
  var tree: RowValues?
  /// The bodies beside the winner's, by their rows' numbers.
  var others: [(number: Int64, row: RowValues)]

  /// Whether nothing is wrong with it any more.
  var isWhole: Bool {
    (tree?.isSound ?? true) && others.allSatisfy(\.row.isSound) && lacksOnlyAncestors
  }

  /// Computes the columns back, if they can be.
  /// - Returns: whether they are right and were not.
  mutating func mendHead(now: Timestamp) -> Bool {
    guard !head.isSound, let mended = head.mended() ?? rebuiltHead(now: now) else { return false }
    head = mended
    return true
  }

  /// Computes back what can be of all that belongs to columns that are right.
  /// - Returns: how many values are right that were not.
  mutating func mendContent() -> Int {
    guard head.isSound, let row = head.document else { return 0 }
    var count = 0
    body = RowValues(body, of: row, sum: row.bodyChecksum)
    if !body.isSound, let mended = body.mended(onlyContent: true) {
      body = mended
      count += 1
    }
    tree = row.treeChecksum.map { sum in
      RowValues(tree ?? RowValues(kind: .tree, values: [], checksum: sum), of: row, sum: sum)
    }
    if let damaged = tree, !damaged.isSound, let mended = damaged.mended(onlyContent: true) {
      tree = mended
      count += 1
    }
    for place in others.indices {
      others[place].row.values[0] = .text(Array(row.id.text.utf8))
      guard !others[place].row.isSound, let mended = others[place].row.mended() else { continue }
      others[place].row = mended
      count += 1
    }
    return count
  }

  /// The columns anew, where body or history vouch for the id and the winner: what they don't tell is taken as it
  /// stands, if it can be.
  private func rebuiltHead(now: Timestamp) -> RowValues? {
    guard var row = head.document else { return nil }
    let isBodySound = RowValues(body, of: row, sum: row.bodyChecksum).isSound
    let history = history(of: row)
    guard isBodySound || row.treeChecksum != nil && history != nil else { return nil }
    if let winner = history?.winner, row.treeChecksum != nil { row.isDeleted = winner.isDeleted }
    if isBodySound {
      row.type = (try? DocumentBody(parsing: body.content, limits: .request))?.type
    }
    let times = 0...max(now.milliseconds, 0)
    if !times.contains(row.updated) { row.updated = now.milliseconds }
    if !times.contains(row.created) { row.created = row.updated }
    let ownsBodies = others.contains { _, other in
      var other = other
      other.values[0] = .text(Array(row.id.text.utf8))
      return other.isSound
    }
    if !ownsBodies { row.first = row.sequence }
    return RowValues(row)
  }

  /// The history; nil where it is lost.
  func history(of row: StoredDocument) -> RevisionTree? {
    guard let decoded = try? row.tree(tree?.content ?? []), let winner = decoded.winner,
      winner.revision == row.revision
    else { return nil }
    return decoded
  }

  /// Whether nothing is lost but bodies of ancestors.
  var lacksOnlyAncestors: Bool {
    guard let row = head.document, head.isSound, body.isSound, let tree = history(of: row) else {
      return false
    }
    let known = soundRevisions(of: row)
    return tree.nodes.allSatisfy { !$0.isLeaf || known.contains($0.revision) }
  }

  /// The revisions whose bodies are what was written.
  private func soundRevisions(of row: StoredDocument) -> Set<RevisionID> {
    var revisions = Set(others.lazy.filter(\.row.isSound).compactMap(\.row.revision))
    if body.isSound { revisions.insert(row.revision) }
    return revisions
  }

  /// What is left of the history: without one, the winner alone.
  func rest(of row: StoredDocument) -> RevisionTree {
    if let tree = history(of: row) { return tree.keeping(soundRevisions(of: row)) }
    var single = row
    single.treeChecksum = nil
    return body.isSound ? (try? single.tree([])) ?? RevisionTree() : RevisionTree()
  }

  /// The bodies that nobody has any more: the damaged ones, and those whose place in a lost history nobody knows.
  func lostBodies(
    of row: StoredDocument, keeping rest: RevisionTree
  ) -> [(revision: String, bytes: [UInt8])] {
    var lost: [(revision: String, bytes: [UInt8])] = []
    if !body.isSound { lost.append((row.revision.description, body.content)) }
    for (_, other) in others where !other.isSound || other.revision.map({ rest[$0] }) == nil {
      lost.append((other.revision?.description ?? "", other.content))
    }
    if let tree, !tree.isSound { lost.append((row.revision.description, tree.content)) }
    if lost.isEmpty { lost.append((row.revision.description, [])) }
    return lost
  }
}

extension RowValues {
  /// The columns of a document.
  init(_ row: StoredDocument) {
    self.init(
      kind: .head,
      values: [
        .integer(row.sequence), .text(Array(row.id.text.utf8)), .integer(row.first),
        .integer(Int64(row.revision.generation)), .text(Array(row.revision.digest.text.utf8)),
        .integer(row.isDeleted ? 1 : 0), .optionalText(row.type.map { Array($0.utf8) }),
        .integer(row.created), .integer(row.updated), .integer(row.bodyChecksum),
        .optionalInteger(row.treeChecksum),
      ], checksum: row.checksum)
  }

  /// A body or tree that belongs to a document's winner.
  init(_ content: RowValues, of row: StoredDocument, sum: Int64) {
    self.init(
      kind: content.kind,
      values: [
        .text(Array(row.id.text.utf8)), .integer(Int64(row.revision.generation)),
        .text(Array(row.revision.digest.text.utf8)),
      ], content: content.content, checksum: sum)
  }

  /// A document's columns; nil where a text is none.
  var document: StoredDocument? {
    guard kind == .head, values.count == 11, let id = string(1), let digest = string(4),
      let generation = Int(exactly: integer(3)), (0...1).contains(integer(5))
    else { return nil }
    var type: String?
    if case .optionalText(.some) = values[6] {
      guard let text = string(6) else { return nil }
      type = text
    }
    var treeChecksum: Int64?
    if case .optionalInteger(let sum) = values[10] { treeChecksum = sum }
    return StoredDocument(
      sequence: integer(0), id: DocumentID(stored: id), first: integer(2),
      revision: RevisionID(generation: generation, digest: digest), isDeleted: integer(5) == 1,
      type: type, created: integer(7), updated: integer(8), bodyChecksum: integer(9),
      treeChecksum: treeChecksum)
  }

  /// The revision of a body beside the winner's; nil where it is none.
  var revision: RevisionID? {
    guard kind == .body, values.count == 3, let digest = string(2) else { return nil }
    return RevisionID(generation: Int(clamping: integer(1)), digest: digest)
  }

  /// A document's revision for people, whatever its bytes are.
  var revisionText: String { "\(integer(3))-\(text(4))" }

  /// A text for people, whatever its bytes are.
  func text(_ place: Int) -> String { String(decoding: bytes(place), as: UTF8.self) }

  private func string(_ place: Int) -> String? {
    String(validating: bytes(place), as: UTF8.self)
  }

  /// A text's bytes; none for no text.
  func bytes(_ place: Int) -> [UInt8] {
    switch values[place] {
    case .text(let bytes), .optionalText(.some(let bytes)): bytes
    case .integer, .optionalInteger, .optionalText(nil): []
    }
  }

  /// An integer; 0 for none.
  func integer(_ place: Int) -> Int64 {
    switch values[place] {
    case .integer(let number), .optionalInteger(.some(let number)): number
    case .text, .optionalText, .optionalInteger(nil): 0
    }
  }
}
