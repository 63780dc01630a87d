import Documents
import Lanes
import Stores

/// Answers `open_revs` in slices, each from one state of a store.
struct OpenRevisionsReader: AnswerReader {
  private let id: DocumentID
  private let wanted: OpenRevisions
  private let query: DocumentQuery
  private let form: OpenRevisions.Form
  /// Nil before the first slice, and for an id never used.
  private var reader: DocumentReader?
  /// What is to be read; nil before the first slice.
  private var targets: [WantedRevisions.Target]?
  /// How many of them are read.
  private var next = 0
  /// What was read already; nil for a revision that is missing.
  private var known: [RevisionID: [UInt8]?] = [:]
  private var hasElements = false
  private(set) var text = AnswerText()

  /// A reader of one document's revisions.
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

  mutating func read(_ view: any StoreView) throws(StoreError) -> Bool {
    if targets == nil {
      reader = try DocumentReader(id, in: view, extras: query.extras, needsTree: true)
      targets = listed()
    } else {
      reader = try reader?.renewed(in: view)
    }
    while let target = targets?.dropFirst(next).first {
      if try reader?.prepare(target.revision, in: view) == false { return false }
      try append(target, view)
      text.settle()
      next += 1
      if text.isTooLong { return true }
      if Slice.isOver { break }
    }
    guard next == targets?.count else { return false }
    switch form {
    case .json: text.writer.endArray()
    case .multipart(let boundary): text.append(Array("--\(boundary)--".utf8))
    }
    return true
  }

  private func listed() -> [WantedRevisions.Target] {
    switch wanted {
    case .all: return WantedRevisions([], by: reader, latest: false).leaves
    case .these(let revisions):
      var wanted = WantedRevisions(revisions, by: reader, latest: query.latest)
      guard query.latest else { return revisions.flatMap { wanted.targets(of: $0) } }
      // A leaf comes once then, and a revision's leaves are looked for once.
      var (asked, seen): (Set<RevisionID>, Set<RevisionID>) = ([], [])
      return revisions.flatMap { revision in
        guard asked.insert(revision).inserted else { return [WantedRevisions.Target]() }
        return wanted.targets(of: revision).filter { seen.insert($0.revision).inserted }
      }
    }
  }

  private mutating func append(
    _ target: WantedRevisions.Target, _ view: any StoreView
  ) throws(StoreError) {
    let found: [UInt8]?
    if let known = known[target.revision] {
      found = known
    } else {
      found = try reader?.revision(target.revision, at: target.place, in: view)
      if wanted != .all { known[target.revision] = .some(found) }
    }
    // A leaf of before that is gone was superseded between two slices.
    if found == nil, wanted == .all { return }
    hasElements = true
    switch form {
    case .json: append(found, asked: target.asked)
    case .multipart(let boundary): append(found, asked: target.asked, boundary)
    }
  }

  /// Writes `{"ok":{…}}` or `{"missing":"…"}`.
  private mutating func append(_ found: [UInt8]?, asked: RevisionID) {
    text.writer.beginObject()
    if let found {
      text.writer.name("ok")
      text.value(found)
    } else {
      text.writer.name("missing")
      text.writer.revision(asked)
    }
    text.writer.endObject()
  }

  private mutating func append(_ found: [UInt8]?, asked: RevisionID, _ boundary: String) {
    text.append(Array("--\(boundary)\r\nContent-Type: application/json".utf8))
    if let found {
      text.append(Array("\r\n\r\n".utf8))
      text.append(found)
    } else {
      text.append(Array("; error=\"true\"\r\n\r\n{\"missing\":\"\(asked)\"}".utf8))
    }
    text.append(Array("\r\n".utf8))
  }
}
