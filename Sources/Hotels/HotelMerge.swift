package import Documents
import Stores

/// The rule that merges a hotel's conflicting revisions into one: a three-way merge, member by member, against the
/// common ancestor of two revisions. Changes of both sides survive. Where both changed the same member, the
/// winner's value stays; the other can be read by its revision. Attachments are merged by name; see ``AttachmentMerge``.
enum HotelMerge {
  /// A merged revision, and the bytes of the attachments that come from the losers.
  typealias Result = (mutation: Mutation, contents: [AttachmentName: AttachmentContent])

  /// The most bytes of bodies that are merged at once, beside the winner's: 256 KiB. Further ones are merged in
  /// later updates. This bounds the work of one transaction.
  static let bytesAtOnce = 256 << 10

  /// Merges the first ``BookmarkMerge/leavesAtOnce`` live leaves of a hotel, or as many of them as
  /// ``bytesAtOnce`` allows.
  ///
  /// The result depends on the tree and the bodies alone, so that a replay elsewhere makes the same revisions.
  /// Conflicting revisions stay when they are not hotels, are too large, or would make the merged hotel too large.
  /// - Parameter limit: how much history to keep.
  /// - Parameter now: the time at which branches are closed.
  /// - Returns: nil when there is nothing to merge.
  /// - Throws: the view's errors; ``DocumentError`` for a leaf in the last generation.
  static func result(
    of id: DocumentID, in view: any StoreView, limit: HistoryLimits, at now: Timestamp
  ) throws -> Result? {
    // The history of a document that is no hotel may be long.
    guard let document = try view.document(id), let body = hotel(document.body),
      let tree = try view.tree(id)
    else { return nil }
    let live = tree.liveLeaves.prefix(BookmarkMerge.leavesAtOnce).map(\.revision)
    guard live.count > 1, let winner = live.first else { return nil }
    let seen = revisionsMerged(into: winner, in: tree)
    let indices = tree.indices(of: live)
    var merged = body
    var losers: [RevisionID] = []
    var contents: [AttachmentName: AttachmentContent] = [:]
    var bytes = 0
    for loser in live.dropFirst() where bytes < bytesAtOnce {
      guard let other = hotel(try view.body(id, loser)), let index = indices[loser]
      else { continue }
      let source = tree.history(at: index).first { seen.contains($0) }
      let former = try source.flatMap { revision in try view.body(id, revision) }
      bytes += other.count
      let (body, merge) = try Self.joined(
        merged, other, since: former ?? Array("{}".utf8), generation: winner.generation + 1)
      let result = body?.bytes ?? merged
      guard result.count <= BookmarkLimits.hotelBytes,
        merge.stubs.count <= IncomingAttachment.most
      else { continue }
      merged = result
      if !merge.taken.isEmpty {
        let keys = try view.attachmentKeys(of: id, loser)
        for (name, source) in merge.taken { contents[name] = keys[source].map { .stored($0) } }
      }
      losers.append(loser)
    }
    guard !losers.isEmpty else { return nil }
    let text = merged
    let mutation = try BookmarkMerge.write(
      try DocumentBody(parsing: text), of: id, onto: tree, closing: losers, limit: limit, at: now)
    return (mutation, contents)
  }

  /// A hotel with what another version of it changes.
  /// - Parameter former: the common version of both; `{}` for none.
  /// - Parameter generation: the highest one that the revision may get. An attachment's `revpos` may be too high, not too
  ///   low.
  /// - Returns: the body, nil when nothing would change; and how the attachments are merged. The body does not have them if
  ///   they are too many.
  static func joined(
    _ own: [UInt8], _ other: [UInt8], since former: [UInt8], generation: Int
  ) throws -> (body: DocumentBody?, attachments: AttachmentMerge) {
    let facts = HotelFacts.merged(into: own, former: former, facts: other)
    let stubs = attachments(of: own)
    let merge = AttachmentMerge(
      into: stubs, former: attachments(of: former), other: attachments(of: other),
      generation: generation)
    guard !merge.isUnchanged(from: stubs), merge.stubs.count <= IncomingAttachment.most else {
      return (facts, merge)
    }
    return (try (facts ?? DocumentBody(parsing: own, limits: .request)).with(merge.stubs), merge)
  }

  private static func attachments(of body: [UInt8]) -> [AttachmentStub] {
    DocumentBody.attachments(in: body)?.stubs ?? []
  }

  /// The winner, its ancestors, and the revisions that were merged into one of them.
  private static func revisionsMerged(
    into winner: RevisionID, in tree: RevisionTree
  ) -> Set<RevisionID> {
    let line = tree.history(of: winner)
    let names = Set(line.map(BookmarkMerge.name(of:)))
    var merged = Set(line)
    for node in tree.nodes where node.isLeaf && node.isDeleted {
      guard let parent = node.parent, names.contains(BookmarkMerge.name(of: node.revision)) else {
        continue
      }
      merged.insert(tree.nodes[parent].revision)
    }
    return merged
  }

  /// A body; nil unless it is a hotel of at most ``BookmarkLimits/hotelBytes``.
  private static func hotel(_ body: [UInt8]?) -> [UInt8]? {
    guard let body, body.count <= BookmarkLimits.hotelBytes,
      let root = try? ParsedJSON(body, limits: .request).root,
      root["type"]?.stringEquals(Hotel.type) == true
    else { return nil }
    return body
  }
}

extension DocumentStore {
  /// Merges the conflicting revisions of hotels, with separate updates for each hotel. One that can't be merged does
  /// not hinder the others.
  /// - Parameter ids: documents that may be hotels with conflicts.
  /// - Throws: the first error that may not come again.
  func mergeHotels(_ ids: [DocumentID], at now: Timestamp, as context: WriteContext) async throws {
    var failure: (any Error)?
    for id in ids {
      do {
        while try await !mergeOnce(id, at: now, as: context) {}
      } catch is DocumentError {
        // Its revisions can't be merged. It stays in conflict, as other documents do.
        continue
      } catch { failure = failure ?? error }
    }
    if let failure { throw failure }
  }

  /// - Returns: whether nothing is left to merge.
  private func mergeOnce(
    _ id: DocumentID, at now: Timestamp, as context: WriteContext
  ) async throws -> Bool {
    try await update(loading: [id], as: context) { changes in
      let merge = try HotelMerge.result(
        of: id, in: changes.view, limit: changes.historyLimits, at: now)
      guard let merge else { return true }
      changes.write(merge.mutation)
      try changes.attach(
        merge.contents, to: AttachedRevision(id: id, revision: merge.mutation.revision))
      // The other leaves may not be hotels. The next round then finds nothing to merge.
      return merge.mutation.tree.openLeafCount == 1
    }
  }
}

extension Edit {
  /// Puts a tombstone on every live leaf, so that no conflicting revision makes the document live again. The tree is pruned
  /// once, so that the work does not grow with its leaves times its revisions.
  /// - Parameter kept: leaves that are not changed.
  /// - Returns: the edit; nil when no leaf is live. The edit's revision is the winner if that is one of the new
  ///   tombstones, and otherwise the last new tombstone.
  /// - Throws: `invalidRevision` for a leaf in the last generation.
  package static func deleteAllLeaves(
    _ id: DocumentID, in tree: RevisionTree, but kept: Set<RevisionID> = [], limit: HistoryLimits
  ) throws -> Mutation? {
    var edits = DocumentEdits(id, in: tree, limit: limit)
    var added: [RevisionID] = []
    for leaf in tree.liveLeaves where !kept.contains(leaf.revision) {
      added.append(try edits.put(base: leaf.revision, body: .empty, isDeleted: true))
    }
    guard let last = added.last, let tree = edits.finish()?.tree else { return nil }
    // An older tombstone or a kept leaf may win. Its body is stored already and must not change.
    let revision = tree.winner.flatMap { winner in added.first { $0 == winner.revision } } ?? last
    var mutation = Mutation(id: id, tree: tree, revision: revision, body: .empty)
    mutation.closed = added.filter { $0 != revision }
    return mutation
  }
}
