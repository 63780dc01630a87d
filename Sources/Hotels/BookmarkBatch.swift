package import Documents
import Stores

/// Several changes of a store's bookmarks, in one update.
package struct BookmarkBatch: Sendable {
  /// Hotels to bookmark, in order.
  package var add: [HotelAddition]
  /// Hotels to unbookmark, in order.
  package let remove: [HotelID]
  /// Steps of an undo.
  package let restore: [Restoration]

  /// The ids of all hotels in the batch.
  package var ids: [HotelID] { add.map(\.id) + remove + restore.map(\.id) }

  /// Reads `{"add":[hotel…],"remove":[id…],"restore":[step…]}`. Each member may be absent.
  /// - Throws: `invalidDocument` for any other shape, too many items, an id that occurs twice, and an item that is
  ///   not valid; the reason names the item's index.
  package init(parsing node: JSONNode) throws {
    guard node.kind == .object else {
      throw ServiceError(.invalidDocument, "The batch must be an object with add and remove")
    }
    let names = ["add", "remove", "restore"]
    for member in node.members where !names.contains(where: { member.nameEquals($0) }) {
      throw ServiceError(
        .invalidDocument, "The batch has a member that is none of add, remove and restore")
    }
    let (added, removed) = (try Self.array(node, "add"), try Self.array(node, "remove"))
    let steps = try Self.array(node, "restore")
    guard added.count + removed.count + steps.count <= BookmarkLimits.batchItems else {
      throw Self.tooMany
    }
    add = try added.enumerated().map { index, item in
      do { return try HotelAddition(item) } catch let error as DocumentError {
        throw ServiceError(.invalidDocument, "add[\(index)]: \(error.reason)")
      }
    }
    remove = try removed.enumerated().map { index, item in
      guard let id = HotelID(entry: item) else {
        throw ServiceError(.invalidDocument, "remove[\(index)] is no hotel's id")
      }
      return id
    }
    restore = try steps.enumerated().map { index, item in
      guard let step = Restoration(item) else {
        throw ServiceError(
          .invalidDocument, "restore[\(index)] is no step of an undo; send it as it came")
      }
      return step
    }
    var seen: Set<HotelID> = []
    for id in self.ids {
      guard seen.insert(id).inserted else {
        throw ServiceError(.invalidDocument, "The hotel \(id) stands twice in the batch")
      }
    }
  }

  /// A copy with the bodies to store.
  /// - Throws: `invalidDocument` and `tooLarge`; the reason names the hotel.
  func prepared() throws -> BookmarkBatch {
    var batch = self
    for index in add.indices {
      do { batch.add[index] = try add[index].prepared() } catch let error as ServiceError {
        throw ServiceError(error.code, "\(add[index].id): \(error.reason)")
      }
    }
    return batch
  }

  private static func array(_ node: JSONNode, _ name: String) throws -> [JSONNode] {
    guard let value = node[name] else { return [] }
    guard value.kind == .array else {
      throw ServiceError(.invalidDocument, "The batch's \(name) must be an array")
    }
    // The count is checked before the nodes are collected: the text may have millions.
    guard value.count <= BookmarkLimits.batchItems else { throw tooMany }
    return Array(value.elements)
  }

  private static let tooMany = ServiceError(
    .invalidDocument, "A batch has at most \(BookmarkLimits.batchItems) items")
}

extension BookmarkEdit {
  /// One change of a batch: `former` is the revision that the hotel's document had, nil for a hotel that was not
  /// bookmarked; `revision` is the one that it has now.
  private typealias Step = (id: HotelID, former: RevisionID?, revision: RevisionID)

  /// Applies a batch, item by item.
  mutating func change(_ batch: BookmarkBatch) throws -> BatchAnswer {
    var answer = BatchAnswer()
    var steps: [Step] = []
    for addition in batch.add {
      let former = try revision(of: addition.id)
      let outcome = try add(addition)
      answer.results.append(
        BatchAnswer.Item(
          id: addition.id, status: former == nil ? 201 : 200,
          isReplaced: outcome.effect == .replaced))
      if outcome.effect == .unchanged { continue }
      steps.append((addition.id, former, outcome.bookmark.revision))
    }
    for id in batch.remove {
      let removed = try remove(id)
      answer.results.append(BatchAnswer.Item(id: id, status: removed == nil ? 404 : 204))
      if let removed { steps.append((id, removed.former, removed.tombstone)) }
    }
    for item in batch.restore {
      let former = try revision(of: item.id)
      let (status, revision) = try restore(item)
      answer.results.append(BatchAnswer.Item(id: item.id, status: status))
      if let revision { steps.append((item.id, former, revision)) }
    }
    answer.undo = try undo(of: steps)
    return answer
  }

  /// The steps that restore the former state.
  private mutating func undo(of steps: [Step]) throws -> [Restoration] {
    let positions = try positions(of: Set(steps.map(\.id)))
    return steps.map { step in
      let former = step.former.flatMap { revision in
        positions[step.id].map { Restoration.Former(revision: revision, position: $0) }
      }
      return Restoration(id: step.id, revision: step.revision, former: former)
    }
  }

  /// Undoes one step of a batch: restores a bookmark with its former position, time and facts, or removes one that
  /// the batch added. A bookmark that has changed since the batch is not touched.
  /// - Returns: a status, see ``BatchAnswer/Item/status``, and the new revision.
  private mutating func restore(
    _ item: Restoration
  ) throws -> (status: Int, revision: RevisionID?) {
    let id = item.id
    let (present, isAlone) = (
      try view.document(id.documentID), try view.newest(id.documentID)?.conflicts.isEmpty ?? true
    )
    guard let present, isAlone, present.revision == item.revision,
      list.contains(id) != present.isDeleted
    else { return (409, nil) }
    guard let former = item.former else {
      let removed = try remove(id)
      return (removed == nil ? 404 : 204, removed?.tombstone)
    }
    let stored = try view.body(id.documentID, former.revision)
    guard let stored, let body = try? DocumentBody(parsing: stored, limits: .request),
      body.type?.equalsBytes(of: Hotel.type) == true
    else { return (410, nil) }
    // A tombstone keeps the creation time of the document that it deleted.
    let base = present.isDeleted ? nil : present.revision
    let bookmark = try put(id, body, base: base, created: present.created)
    guard present.isDeleted else { return (200, bookmark.revision) }
    putBack(id, at: former.position)
    return (201, bookmark.revision)
  }
}

/// The results of a batch, item by item, and the batch that undoes it.
package struct BatchAnswer: Sendable {
  /// The result of one item.
  package struct Item: Sendable, Equatable {
    package let id: HotelID
    /// 201: bookmarked. 200: was bookmarked already; its facts may have changed. 204: unbookmarked. 404: was not
    /// bookmarked. In an undo also 409: the bookmark has changed since, and 410: the former revision's body is no
    /// longer stored. With 409 and 410 nothing is changed.
    package let status: Int
    /// Whether the given facts replaced others.
    package internal(set) var isReplaced = false
  }

  /// The items: those of `add` in order, then those of `remove`, then those of `restore`.
  package internal(set) var results: [Item] = []
  /// The steps that restore the former state, in the order of the results.
  package internal(set) var undo: [Restoration] = []

  /// The answer's JSON: `{"results":[{"id","status"}…],"undo":{"restore":[…]}}`. A client sends `undo` as the body
  /// of a batch to restore the former bookmarks.
  package var bytes: [UInt8] {
    JSONWriter.object { writer in
      writer.objects("results", of: results) { item, writer in
        writer.member("id", item.id.text)
        writer.member("status", item.status)
        if item.isReplaced { writer.member("replaced", true) }
      }
      writer.object("undo") { $0.objects("restore", of: undo) { $0.appendMembers(to: &$1) } }
    }
  }
}
