import Documents
import Lanes
import Stores

/// Answers `open_revs` in slices, each from one state of a store.
struct OpenRevisionsReader: Sendable {
  private let id: DocumentID
  private let wanted: OpenRevisions
  private let query: DocumentQuery
  /// Nil before the first slice, and for an id never used.
  private var reader: DocumentReader?
  /// What is to be read; nil before the first slice.
  private var targets: [WantedRevisions.Target]?
  /// How many of them are read.
  private var next = 0
  /// The places in ``found`` of what was answered already.
  private var known: [RevisionID: Int] = [:]
  private var room = CouchLimits.answerBytes
  /// One element for each revision found or missing; nil when together they are longer than
  /// ``CouchLimits/answerBytes``.
  private(set) var found: [OpenRevision]? = []

  /// A reader of one document's revisions.
  init(_ id: DocumentID, _ wanted: OpenRevisions, _ query: DocumentQuery) {
    self.id = id
    self.wanted = wanted
    self.query = query
  }

  /// Goes on in a state of the store until the slice is over.
  /// - Returns: whether the answer is whole.
  mutating func read(_ view: any StoreView) throws(StoreError) -> Bool {
    if targets == nil {
      reader = try DocumentReader(id, in: view, extras: query.extras, needsTree: true)
      targets = listed()
    } else {
      reader = try reader?.renewed(in: view)
    }
    guard let targets else { return true }
    while next < targets.count {
      if try reader?.prepare(targets[next].revision, in: view) == false { return false }
      try append(targets[next], view)
      guard room >= 0 else {
        found = nil
        return true
      }
      next += 1
      if Slice.isOver { return next == targets.count }
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
    if let place = known[target.revision], let element = found?[place] {
      room -= element.count
      found?.append(element)
      return
    }
    let bytes = try reader?.revision(target.revision, at: target.place, in: view)
    let element = bytes.map { OpenRevision.found($0) } ?? .missing(target.asked)
    // A leaf of before that is gone was superseded between two slices.
    if bytes == nil, wanted == .all { return }
    known[target.revision] = found?.count
    room -= element.count
    found?.append(element)
  }
}

extension OpenRevision {
  /// Bytes of its document.
  fileprivate var count: Int {
    guard case .found(let bytes) = self else { return 0 }
    return bytes.count
  }
}
