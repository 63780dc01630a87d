import Documents
import Scheduling
import Stores

/// Answers `open_revs` in slices, each from one snapshot of the store.
struct OpenRevisionsReader: AnswerReader {
  private let id: DocumentID
  private let wanted: OpenRevisions
  private let query: DocumentQuery
  private let form: OpenRevisions.Form
  /// The reader of the document; nil before the first slice of a part, and for an id that was never used.
  private var reader: DocumentReader?
  /// The revisions to read, as far as they are known; nil before the first slice.
  private var targets: [WantedRevisions.Target]?
  /// The revisions that are still to be looked up in the tree; nil for none.
  private var listing: Listing?
  /// The number of revisions that were read.
  private var next = 0
  /// The revisions that were read for this part of the answer; the value is nil for one that is missing.
  private var known: [RevisionID: RevisionText?] = [:]
  /// Whether the present element is not ended yet.
  private var isOpen = false
  private var hasElements = false
  var text = AnswerText()

  init(
    _ id: DocumentID, _ wanted: OpenRevisions, _ query: DocumentQuery, as form: OpenRevisions.Form
  ) {
    self.id = id
    self.wanted = wanted
    self.query = query
    self.form = form
    if case .json = form { text.writer.beginArray() }
  }

  var isEmpty: Bool { wanted == .all && !hasElements }

  mutating func release() { (reader, known) = (nil, [:]) }

  mutating func read(_ view: any StoreView) throws -> Bool {
    guard try finish(view) else { return false }
    reader =
      try reader?.renewed(in: view)
      ?? DocumentReader(id, in: view, extras: query.extras, needsTree: true)
    if targets == nil {
      begin()
      // To decode a tree of the largest size takes some milliseconds.
      if view.slice.isOver { return false }
    }
    guard list(within: view.slice) else { return false }
    while let target = targets?.dropFirst(next).first {
      if let revision = target.revision, try reader?.prepare(revision, in: view) == false {
        return false
      }
      try append(target, view)
      next += 1
      guard try finish(view) else { return false }
      if pauses(view) { break }
    }
    guard next == targets?.count else { return false }
    switch form {
    case .json: text.writer.endArray()
    case .multipart(let boundary, _): text.append(Array("--\(boundary)--".utf8))
    }
    return true
  }

  /// Ends the present element, as far as the slice allows.
  private mutating func finish(_ view: any StoreView) throws -> Bool {
    guard try text.finishValue(in: view) else { return false }
    guard isOpen else { return true }
    isOpen = false
    switch form {
    case .json: text.writer.endObject()
    case .multipart: text.append(Array("\r\n".utf8))
    }
    text.flush()
    return true
  }

  private struct Listing: Sendable {
    var wanted: WantedRevisions
    var rest: ArraySlice<NamedRevision>
    /// With `latest` the leaves of each revision are looked up once.
    var asked: Set<NamedRevision> = []
    /// With `latest` each leaf occurs once.
    var seen: Set<NamedRevision> = []

    mutating func targets(of revision: NamedRevision, latest: Bool) -> [WantedRevisions.Target] {
      guard latest else { return wanted.targets(of: revision) }
      guard asked.insert(revision).inserted else { return [] }
      return wanted.targets(of: revision).filter { target in
        seen.insert(target.revision.map(NamedRevision.storable) ?? target.asked).inserted
      }
    }
  }

  private mutating func begin() {
    switch wanted {
    case .all: targets = WantedRevisions([], by: reader, latest: false).leaves
    case .these(let revisions):
      targets = []
      let wanted = WantedRevisions(
        revisions.compactMap(\.revision), by: reader, latest: query.latest)
      listing = Listing(wanted: wanted, rest: revisions[...])
    }
  }

  /// Looks up the revisions to read, until the slice is over.
  /// - Returns: whether all are known.
  private mutating func list(within slice: Slice) -> Bool {
    while let revision = listing?.rest.popFirst() {
      let found = listing?.targets(of: revision, latest: query.latest) ?? []
      targets?.append(contentsOf: found)
      if slice.isOver { return false }
    }
    listing = nil
    return true
  }

  private mutating func append(_ target: WantedRevisions.Target, _ view: any StoreView) throws {
    let found = try target.revision.flatMap { revision in
      try body(of: revision, at: target.index, view)
    }
    // The revision is no longer a leaf: a newer one replaced it between two slices.
    if found == nil, wanted == .all { return }
    (hasElements, isOpen) = (true, true)
    switch form {
    case .json: append(found, asked: target.asked)
    case .multipart(let boundary, _): append(found, asked: target.asked, boundary)
    }
  }

  /// A revision, read once; nil when it is missing.
  private mutating func body(
    of revision: RevisionID, at index: Int?, _ view: any StoreView
  ) throws -> RevisionText? {
    if let known = known[revision] { return known }
    let found = try reader?.text(of: revision, at: index, as: form.ofRevision, in: view)
    if wanted != .all { known[revision] = .some(found) }
    return found
  }

  /// Writes `{"ok":{…}` or `{"missing":"…"`.
  private mutating func append(_ found: RevisionText?, asked: NamedRevision) {
    text.writer.beginObject()
    if let found {
      text.writer.name("ok")
      text.begin(found)
    } else {
      text.writer.member("missing", asked.text)
    }
  }

  private mutating func append(_ found: RevisionText?, asked: NamedRevision, _ boundary: String) {
    let type = found?.type ?? "application/json; error=\"true\""
    text.append(Array("--\(boundary)\r\nContent-Type: \(type)\r\n\r\n".utf8))
    let missing = RevisionText(JSONValue.object(["missing": .string(asked.text)]).bytes)
    text.append(found ?? missing)
  }
}

/// The revisions of a document that can still be read, as far as `_revs_info` has looked them up.
struct KeptBodies: Sendable {
  /// The revisions close enough to a leaf. Beyond them no body is kept, so none is looked up. Nil before the first
  /// look-up.
  private var near: Set<RevisionID>?
  private var isKept: [RevisionID: Bool] = [:]

  /// Looks up the bodies of a revision and its ancestors, each once, until the slice is over.
  /// - Returns: whether all have been looked up.
  mutating func lookUp(
    for revision: RevisionID, of winner: Document, in tree: RevisionTree, _ view: any StoreView
  ) throws -> Bool {
    let near = near ?? tree.revisions(withinSteps: StoreLimits.storedAncestors)
    self.near = near
    guard let index = tree.index(of: revision) else { return true }
    for node in tree.line(at: index)
    where !node.isDeleted && node.revision != winner.revision && near.contains(node.revision)
      && isKept[node.revision] == nil
    {
      isKept[node.revision] = try view.body(winner.id, of: node, in: tree) != nil
      if view.slice.isOver { return false }
    }
    return true
  }

  /// CouchDB's word for the state of a revision: `available`, `missing` or `deleted`.
  func status(of node: RevisionTree.Node, winner: RevisionID) -> String {
    if node.isDeleted { return "deleted" }
    return node.revision == winner || isKept[node.revision] == true ? "available" : "missing"
  }
}
