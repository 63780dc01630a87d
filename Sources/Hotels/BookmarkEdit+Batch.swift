import Documents
import Stores

extension BookmarkEdit {
  /// What an item of a batch has changed: the revision that the hotel's document had, nil for a hotel that was not
  /// bookmarked, and the one that it has.
  private typealias Step = (id: HotelID, former: RevisionID?, revision: RevisionID)

  /// Does a batch, item by item.
  mutating func change(_ batch: BookmarkBatch) throws(HotelError) -> BatchAnswer {
    var answer = BatchAnswer()
    var steps: [Step] = []
    for addition in batch.add {
      let former = try revision(of: addition.id)
      let outcome = try add(addition)
      answer.results.append(
        BatchAnswer.Item(
          id: addition.id, status: former == nil ? 201 : 200, isReplaced: outcome.isReplaced))
      if case .unchanged = outcome { continue }
      steps.append((addition.id, former, outcome.bookmark.revision))
    }
    for id in batch.remove {
      let former = try revision(of: id)
      let tombstone = try remove(id)
      answer.results.append(BatchAnswer.Item(id: id, status: tombstone == nil ? 404 : 204))
      if let tombstone { steps.append((id, former, tombstone)) }
    }
    for item in batch.restore {
      let former = try revision(of: item.id)
      let (status, revision) = try restore(item)
      answer.results.append(BatchAnswer.Item(id: item.id, status: status))
      if let revision { steps.append((item.id, former, revision)) }
    }
    answer.undo = undo(of: steps)
    return answer
  }

  /// What brings the former state back.
  private func undo(of steps: [Step]) -> [Restoration] {
    let places = list.places(of: Set(steps.map(\.id)), leaving: leaving)
    return steps.map { step in
      let former = step.former.flatMap { revision in
        places[step.id].map { Restoration.Former(revision: revision, place: $0) }
      }
      return Restoration(id: step.id, revision: step.revision, former: former)
    }
  }

  /// Brings a bookmark back as it was before a batch, at its place and with its time and facts, or takes one away
  /// that the batch had made. What has changed since the batch is left alone.
  /// - Returns: the status of ``BatchAnswer/Item/status``, and the revision that was made.
  private mutating func restore(
    _ item: Restoration
  ) throws(HotelError) -> (status: Int, revision: RevisionID?) {
    let id = item.id
    let (present, isAlone) = try reading { () throws(StoreError) in
      (try view.document(id.documentID), try view.tree(id.documentID)?.conflicts.isEmpty ?? true)
    }
    guard let present, isAlone, present.revision == item.revision,
      list.contains(id) != present.isDeleted
    else { return (409, nil) }
    guard let former = item.former else {
      let tombstone = try remove(id)
      return (tombstone == nil ? 404 : 204, tombstone)
    }
    let said = try reading { () throws(StoreError) in
      try view.body(id.documentID, former.revision)
    }
    guard let said, let body = try? DocumentBody(parsing: said, limits: .request),
      body.type?.equalsBytes(of: Hotel.type) == true
    else { return (410, nil) }
    // A tombstone has the time of the life that it ended.
    let base = present.isDeleted ? nil : present.revision
    let bookmark = try put(id, body, base: base, created: present.created)
    guard present.isDeleted else { return (200, bookmark.revision) }
    returning.append((id, former.place))
    return (201, bookmark.revision)
  }
}
