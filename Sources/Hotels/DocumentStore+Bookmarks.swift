import Documents
import Metrics
import Stores

/// A rule about a store's bookmarks: it asks the edit and tells it what to change.
typealias BookmarkRule<Value> = @Sendable (inout BookmarkEdit) throws(HotelError) -> Value

/// What one run of a rule came to.
private enum BookmarkAttempt<Value: Sendable>: Sendable {
  /// The edit is on disk.
  case done(Value)
  /// The rule refused; nothing was written.
  case refused(HotelError)
  /// The lists have to be merged first; nothing was written.
  case unmerged
  /// The update has to name further documents; nothing was written.
  case wider(Set<DocumentID>)
}

extension DocumentStore {
  /// How often an update starts anew because lists came up in between, before the store counts as too busy.
  private static var maximumAttempts: Int { 8 }
  /// How often lists are merged for one change: as often as it takes for all leaves that a list can have, and some more.
  private static var maximumMerges: Int {
    HistoryLimits.standard.liveLeaves / (BookmarkMerge.leavesAtOnce - 1) + maximumAttempts
  }

  /// Runs a rule in one update, lists merged before.
  /// - Throws: the store's errors; the rule's own are the result's.
  func change<Value: Sendable>(
    _ ids: Set<DocumentID>, at now: Timestamp, _ rule: @escaping BookmarkRule<Value>
  ) async throws(StoreError) -> Result<Value, HotelError> {
    var mergesFirst = true
    var ids = ids
    for _ in 0..<Self.maximumAttempts {
      switch try await attempt(ids, at: now, needsMerged: mergesFirst, rule) {
      case .done(let value): return .success(value)
      case .refused(let error): return .failure(error)
      case .wider(let more): ids.formUnion(more)
      case .unmerged:
        do { try await mergeLists(at: now) } catch {
          // A full store must not stand in the way of an unbookmarking; merge and change go together then.
          guard error.code == .quotaExceeded else { throw error }
          mergesFirst = false
        }
      }
    }
    throw Self.isBusy
  }

  /// Makes one list of all lists.
  /// - Returns: whether anything was written.
  @discardableResult
  func mergeLists(at now: Timestamp) async throws(StoreError) -> Bool {
    var ids: Set<DocumentID> = []
    var isMerged = false
    for _ in 0..<Self.maximumMerges {
      let attempt = try await attempt(ids, at: now, needsMerged: false) {
        edit throws(HotelError) in !edit.isSettled
      }
      switch attempt {
      case .done(true): isMerged = true
      case .done(false), .refused, .unmerged: return isMerged
      case .wider(let more): ids.formUnion(more)
      }
    }
    throw Self.isBusy
  }

  /// Counts ids of merged lists for which the one list had no room: `bookmarks_left_out_total`.
  private static let leftOutCounter = Counter(label: "bookmarks_left_out_total")

  private static var isBusy: StoreError {
    StoreError(.overloaded, "The store's lists change too fast to be merged")
  }

  private func attempt<Value: Sendable>(
    _ ids: Set<DocumentID>, at now: Timestamp, needsMerged: Bool,
    _ rule: @escaping BookmarkRule<Value>
  ) async throws(StoreError) -> BookmarkAttempt<Value> {
    let ids = ids.union([BookmarkList.documentID])
    let limit = historyLimits
    let (attempt, leftOut) = try await update(ids) {
      view throws(StoreError) -> Decision<(BookmarkAttempt<Value>, Int)> in
      var edit = try BookmarkEdit(view, now: now, limit: limit)
      guard edit.isSettled || !needsMerged else { return Decision(value: (.unmerged, 0)) }
      let value: Value
      do throws(HotelError) { value = try rule(&edit) } catch {
        if let failure = error.store { throw failure }
        return Decision(value: (.refused(error), 0))
      }
      let (mutations, leftOut) = try edit.finished()
      let further = Set(mutations.map(\.id)).subtracting(ids)
      guard further.isEmpty else { return Decision(value: (.wider(further), 0)) }
      return Decision(mutations, locals: edit.locals, value: (.done(value), leftOut))
    }.value
    if leftOut > 0 { Self.leftOutCounter.increment(by: leftOut) }
    return attempt
  }
}
