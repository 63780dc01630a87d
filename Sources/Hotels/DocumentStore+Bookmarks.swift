import Documents
import Metrics
import Stores

/// A rule about a store's bookmarks. It reads from the edit and records changes in it.
typealias BookmarkRule<Value> = @Sendable (inout BookmarkEdit) throws -> Value

extension DocumentStore {
  /// How often an update is tried again because new lists appeared, before the store counts as too busy.
  private static var maximumAttempts: Int { 8 }
  /// How often lists are merged for one change: enough for all leaves that a list can have, if each is so long that it is
  /// merged by itself, plus ``maximumAttempts``.
  private static var maximumMerges: Int {
    HistoryLimits.standard.liveLeaves + maximumAttempts
  }

  /// Runs a rule in one update, after lists are merged.
  /// - Throws: what the rule throws, in which case nothing is written; the store's errors.
  func change<Value: Sendable>(
    _ ids: Set<DocumentID>, at now: Timestamp, as context: WriteContext,
    answer: Answering<Value>? = nil, _ rule: @escaping BookmarkRule<Value>
  ) async throws -> Value {
    var lists: ListReconciliation?
    for _ in 0..<Self.maximumAttempts {
      let value = try await attempt(
        ids, at: now, as: context, merging: lists, answer: answer, rule)
      if let value { return value }
      do {
        try await mergeLists(at: now, as: context.maintenance)
        lists = nil
      } catch {
        // A full store must not prevent unbookmarking. In that case the merge and the change share one update.
        guard ServiceError(error)?.code == .quotaExceeded else { throw error }
        let read = try await readLists()
        lists = read.isSettled ? nil : read
      }
    }
    throw Self.isBusy
  }

  /// Merges all lists into one, as maintenance, whichever write causes it. They are read and joined in slices before the update, which only checks that the store has
  /// not changed since.
  /// - Returns: whether anything was written.
  @discardableResult
  func mergeLists(at now: Timestamp, as context: WriteContext) async throws -> Bool {
    var isMerged = false
    for _ in 0..<Self.maximumMerges {
      let lists = try await readLists()
      guard !lists.isSettled else { return isMerged }
      let outcome = try await attempt([], at: now, as: context, merging: lists) { _ in true }
      isMerged = isMerged || outcome == true
    }
    throw Self.isBusy
  }

  private func readLists() async throws -> ListReconciliation {
    try await read(inSlices: ListReader()) { lists, view in try lists.read(view) }
  }

  /// Counts ids of merged lists that did not fit into the one list: `bookmarks_left_out_total`.
  private static let leftOutCounter = Counter(label: "bookmarks_left_out_total")

  private static var isBusy: ServiceError {
    ServiceError(.overloaded, "The store's lists change too fast to be merged")
  }

  /// - Parameter lists: lists that this update merges, as they were read; nil when they must be merged already.
  /// - Returns: nil when the lists must be merged first, or have changed since. Nothing is written then, nor when the rule
  ///   throws.
  private func attempt<Value: Sendable>(
    _ ids: Set<DocumentID>, at now: Timestamp, as context: WriteContext,
    merging lists: ListReconciliation?, answer: Answering<Value>? = nil,
    _ rule: @escaping BookmarkRule<Value>
  ) async throws -> Value? {
    let ids = ids.union([BookmarkList.documentID])
    let whole = answer.map { answer -> Answering<(Value?, Int)> in { $0.0.flatMap(answer) } }
    let (value, leftOut) = try await update(loading: ids, as: context, answer: whole) {
      changes -> (Value?, Int) in
      let view = changes.view
      let present = try lists ?? ListReconciliation(settledIn: view)
      guard let present, try lists == nil || present.isCurrent(in: view) else { return (nil, 0) }
      var edit = BookmarkEdit(view, now: now, limit: changes.historyLimits, lists: present)
      let value = try rule(&edit)
      let (mutations, leftOut) = try edit.finish()
      for mutation in mutations { changes.write(mutation) }
      for local in edit.locals { changes.write(local) }
      for bodies in edit.forgotten { changes.forget(bodies) }
      changes.offered = edit.attachments
      for (revision, contents) in edit.attached { try changes.attach(contents, to: revision) }
      return (value, leftOut)
    }
    if leftOut > 0 { Self.leftOutCounter.increment(by: leftOut) }
    return value
  }
}
