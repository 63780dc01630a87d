import Documents

/// The revisions that `open_revs` and `_bulk_get` are about, found at once in the tree that was read first.
struct WantedRevisions: Sendable {
  /// A revision to read.
  struct Target: Sendable {
    /// The revision that was asked for.
    let asked: RevisionID
    /// The one that is answered: itself, or a leaf that it led to.
    let revision: RevisionID
    /// Where that one stands in the tree; nil for an unknown one.
    let place: Int?
  }

  private let reader: DocumentReader?
  private let latest: Bool
  /// Where they stand in the tree; not used for a single one, which most requests ask for.
  private let places: [RevisionID: Int]
  private let single: (revision: RevisionID, place: Int?)?
  /// Made for the first revision that is no leaf.
  private var below: LeavesBelow?

  /// Looks up all revisions that will be asked for.
  /// - Parameter reader: a reader of the document with its tree; nil for an id never used.
  /// - Parameter latest: whether a revision that is no leaf stands for the leaves that it led to.
  init(_ revisions: [RevisionID], by reader: DocumentReader?, latest: Bool) {
    self.reader = reader
    self.latest = latest
    single = revisions.count == 1 ? (revisions[0], reader?.place(of: revisions[0])) : nil
    places = single == nil ? reader?.places(of: revisions) ?? [:] : [:]
  }

  /// Every leaf, winner first.
  var leaves: [Target] {
    let leaves = reader?.leaves ?? []
    let places = reader?.places(of: leaves) ?? [:]
    return leaves.map { Target(asked: $0, revision: $0, place: places[$0]) }
  }

  /// What stands for a revision.
  mutating func targets(of asked: RevisionID) -> [Target] {
    let place = single?.revision == asked ? single?.place : places[asked]
    guard latest, let place, let reader, reader.node(at: place)?.isLeaf == false else {
      return [Target(asked: asked, revision: asked, place: place)]
    }
    let below = below ?? reader.leavesBelow()
    self.below = below
    return below.places(at: place).map { leaf in
      Target(asked: asked, revision: reader.node(at: leaf)?.revision ?? asked, place: leaf)
    }
  }
}
