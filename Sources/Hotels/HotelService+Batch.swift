import Documents
package import Stores

extension HotelService {
  /// Changes several bookmarks in one update: all of it or nothing.
  ///
  /// With a receipt, the answer is kept in the same update, so that a retry (after a crash, too) gets the
  /// answer of the first time and changes nothing.
  /// - Throws: `invalidHotel`, `tooLarge`, `occupied`, `receiptMismatch`, `store`.
  package func change(
    _ batch: BookmarkBatch, in name: StoreName, receipt: ReceiptRequest? = nil
  ) async throws(HotelError) -> BatchAnswer {
    var adding: [(id: HotelID, body: DocumentBody)] = []
    for hotel in batch.add {
      do { adding.append((hotel.id, try hotel.stored())) } catch {
        throw HotelError(error.code, "\(hotel.id): \(error.reason)")
      }
    }
    let (added, removed) = (adding, batch.remove)
    let ids = added.map(\.id) + removed
    let answer = try await change(name, creating: !added.isEmpty, ids) {
      edit throws(HotelError) in
      let kept = try receipt.flatMap { request throws(HotelError) in try edit.local(request.id) }
      if let receipt, let kept, let earlier = BatchReceipt(parsing: kept.body, at: edit.now) {
        return try earlier.answer(to: receipt, in: edit.view)
      }
      let answer = try edit.change(adding: added, removing: removed)
      if let receipt { edit.keep(answer, for: receipt, replacing: kept) }
      return answer
    }
    return answer ?? BatchAnswer(absentStore: removed)
  }
}

extension BookmarkEdit {
  fileprivate mutating func keep(
    _ answer: BatchAnswer, for receipt: ReceiptRequest, replacing kept: LocalDocument?
  ) {
    let expires = now.adding(seconds: receipt.lifetimeSeconds)
    let note = BatchReceipt(answer, fingerprint: receipt.fingerprint, expires: expires)
    let document = LocalDocument(revision: (kept?.revision ?? 0) &+ 1, body: note.bytes)
    locals.append(LocalEdit(receipt.id, document, expires: expires))
  }

  fileprivate mutating func change(
    adding added: [(id: HotelID, body: DocumentBody)], removing removed: [HotelID]
  ) throws(HotelError) -> BatchAnswer {
    var results: [BatchAnswer.Item] = []
    var restored: [Bookmark] = []
    var withdrawn: [HotelID] = []
    for (id, body) in added {
      let former = try reading { () throws(StoreError) in try bookmark(id) }
      switch try add(id, body) {
      case .created: withdrawn.append(id)
      case .updated: if let former { restored.append(former) }
      case .unchanged: break
      }
      results.append(BatchAnswer.Item(id: id, status: former == nil ? 201 : 200))
    }
    for id in removed {
      let former = try reading { () throws(StoreError) in try bookmark(id) }
      let isRemoved = try remove(id) != nil
      if isRemoved, let former { restored.append(former) }
      results.append(BatchAnswer.Item(id: id, status: isRemoved ? 204 : 404))
    }
    return BatchAnswer(
      results: results, isReplay: false, restored: restored, withdrawn: withdrawn)
  }
}

extension BatchAnswer {
  /// The answer of a store that does not exist to a batch that only removes.
  fileprivate init(absentStore removed: [HotelID]) {
    self.init(
      results: removed.map { Item(id: $0, status: 404) }, isReplay: false, restored: [],
      withdrawn: [])
  }
}
