import Documents
import Metrics
package import Stores

extension HotelService {
  /// One bookmark; nil when the hotel is not bookmarked.
  /// - Throws: `store`.
  package func bookmark(
    _ id: HotelID, in name: StoreName
  ) async throws -> Bookmark? {
    try await read(name) { view in
      try ListReconciliation(view).list.bookmark(id, in: view)
    } ?? nil
  }

  /// Bookmarks, newest first; none for a guest who never wrote.
  /// - Parameters:
  ///   - limit: 1 to ``BookmarkLimits/pageItems``; clipped.
  ///   - cursor: where the page before ended; nil for the first page.
  /// - Throws: `store`.
  package func bookmarks(
    in name: StoreName, limit: Int, after cursor: BookmarkCursor? = nil
  ) async throws -> BookmarkPage {
    try await read(name, inSlices: BookmarkPageReader(limit: limit, after: cursor)) {
      reader, view in try reader.read(view)
    } ?? BookmarkPage(bookmarks: [], next: nil, tag: StoreInfo.absentTag)
  }

  /// Which of these hotels are bookmarked; for a page of search results.
  /// - Throws: `store`.
  package func bookmarked(
    among ids: [HotelID], in name: StoreName
  ) async throws -> Set<HotelID> {
    guard !ids.isEmpty else { return [] }
    return try await read(name, inSlices: ListedHotels(ids)) {
      hotels, view in
      try hotels.read(view) ? Set(hotels.found.map(\.id)) : nil
    } ?? []
  }

  /// A strong entity-tag, quotation marks included, that changes with every commit of the store (RFC 9110
  /// section 8.8.3). One cheap read.
  /// - Throws: `store`.
  package func tag(in name: StoreName) async throws -> String {
    try await read(name) { view in try view.info().tag } ?? StoreInfo.absentTag
  }
}

extension StoreInfo {
  /// The entity-tag of this state: the store's epoch and last sequence number.
  var tag: String { "\(epoch)-\(lastSequence)" }
  /// The entity-tag of a store that does not exist.
  fileprivate static let absentTag = "none-0"
}

extension BookmarkList {
  /// One of the list's hotels whose document is live; nil for any other.
  func bookmark(
    _ id: HotelID, in view: any StoreView
  ) throws -> Bookmark? {
    guard contains(id), case .live(let bookmark) = try StoredHotel(id, in: view) else { return nil }
    return bookmark
  }
}

/// A rule about a store's bookmarks: it asks the edit and tells it what to change.
typealias BookmarkRule<Value> = @Sendable (inout BookmarkEdit) throws -> Value

extension DocumentStore {
  /// How often an update starts anew because lists came up in between, before the store counts as too busy.
  private static var maximumAttempts: Int { 8 }
  /// How often lists are merged for one change: as often as it takes for all leaves that a list can have, and some more.
  private static var maximumMerges: Int {
    HistoryLimits.standard.liveLeaves / (BookmarkMerge.leavesAtOnce - 1) + maximumAttempts
  }

  /// Runs a rule in one update, lists merged before.
  /// - Throws: what the rule throws, nothing having been written; the store's errors.
  func change<Value: Sendable>(
    _ ids: Set<DocumentID>, at now: Timestamp, _ rule: @escaping BookmarkRule<Value>
  ) async throws -> Value {
    var mergesFirst = true
    for _ in 0..<Self.maximumAttempts {
      if let value = try await attempt(ids, at: now, needsMerged: mergesFirst, rule) {
        return value
      }
      do { try await mergeLists(at: now) } catch {
        // A full store must not stand in the way of an unbookmarking; merge and change go together then.
        guard ServiceError(error)?.code == .quotaExceeded else { throw error }
        mergesFirst = false
      }
    }
    throw Self.isBusy
  }

  /// Makes one list of all lists.
  /// - Returns: whether anything was written.
  @discardableResult
  func mergeLists(at now: Timestamp) async throws -> Bool {
    var isMerged = false
    for _ in 0..<Self.maximumMerges {
      // Upkeep, whosever write it comes before.
      let outcome = try await Upkeep.run {
        try await attempt([], at: now, needsMerged: false) { edit in !edit.isSettled }
      }
      guard outcome == true else { return isMerged }
      isMerged = true
    }
    throw Self.isBusy
  }

  /// Counts ids of merged lists for which the one list had no room: `bookmarks_left_out_total`.
  private static let leftOutCounter = Counter(label: "bookmarks_left_out_total")

  private static var isBusy: ServiceError {
    ServiceError(.overloaded, "The store's lists change too fast to be merged")
  }

  /// - Returns: nil where the lists have to be merged first. Nothing is written then, nor where the rule refuses.
  private func attempt<Value: Sendable>(
    _ ids: Set<DocumentID>, at now: Timestamp, needsMerged: Bool,
    _ rule: @escaping BookmarkRule<Value>
  ) async throws -> Value? {
    let (value, leftOut) = try await update(loading: ids.union([BookmarkList.documentID])) {
      changes -> (Value?, Int) in
      var edit = try BookmarkEdit(changes.view, now: now, limit: changes.historyLimits)
      guard edit.isSettled || !needsMerged else { return (nil, 0) }
      let value = try rule(&edit)
      changes.outcome = value
      let (mutations, leftOut) = try edit.finished()
      for mutation in mutations { changes.write(mutation) }
      for local in edit.locals { changes.write(local) }
      for id in edit.withoutHistory { changes.dropHistory(of: id) }
      return (value, leftOut)
    }
    if leftOut > 0 { Self.leftOutCounter.increment(by: leftOut) }
    return value
  }
}
