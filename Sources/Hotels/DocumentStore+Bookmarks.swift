import Documents
import Metrics
import Stores

/// A rule about a store's bookmarks. It reads from the edit and records changes in it.
typealias BookmarkRule<Value> = @Sendable (inout BookmarkEdit) throws -> Value

extension DocumentStore {
  /// How often an update is tried again because new lists appeared, before the store counts as too busy.
  private static var maximumAttempts: Int { 8 }
  /// How often a long list is prepared for one change. A list that others change all the time is then made in the update.
  private static var maximumPreparations: Int { 4 }
  /// How often lists are merged for one change: enough for all leaves that a list can have, if each is so long that it is
  /// merged by itself, plus ``maximumAttempts``.
  private static var maximumMerges: Int { HistoryLimits.standard.liveLeaves + maximumAttempts }

  /// Runs a rule in one update, after lists are merged. A long list is read before the update and, once it is known what the
  /// rule changes of it, made before the next one.
  /// - Throws: what the rule throws, in which case nothing is written; the store's errors.
  func change<Value: Sendable>(
    _ ids: Set<DocumentID>, at now: Timestamp, as context: WriteContext,
    answer: Answering<Value>? = nil, _ rule: @escaping BookmarkRule<Value>
  ) async throws -> Value {
    var lists = ListSource.short
    var (merges, preparations) = (0, 0)
    while merges < Self.maximumAttempts {
      switch try await attempt(ids, at: now, as: context, lists, answer: answer, rule) {
      case .done(let value): return value
      case .unmerged:
        merges += 1
        do {
          try await mergeLists(at: now, as: context.maintenance)
          lists = .short
        } catch {
          // A full store must not prevent unbookmarking. In that case the merge and the change share one update.
          guard ServiceError(error)?.code == .quotaExceeded else { throw error }
          let read = try await readLists()
          lists = read.isSettled ? .short : .read(read, nil)
        }
      case .long where preparations == Self.maximumPreparations: lists = .any
      case .long(let change):
        preparations += 1
        if let change, case .read(let known, _) = lists {
          lists = .read(known, try await PreparedList(known, change))
        } else {
          let known = try await readLists()
          lists = known.isSettled ? .read(known, nil) : .short
        }
      }
    }
    throw Self.isBusy
  }

  /// Merges all lists into one, as maintenance, whichever write causes it. They are read and joined in slices, and the list
  /// is made, before the update, which only checks that the lists have not changed since.
  /// - Returns: whether anything was written.
  @discardableResult
  func mergeLists(at now: Timestamp, as context: WriteContext) async throws -> Bool {
    var isMerged = false
    for _ in 0..<Self.maximumMerges {
      let lists = try await readLists()
      guard !lists.isSettled else { return isMerged }
      let prepared = try await PreparedList(lists, ListChange())
      let outcome = try await attempt([], at: now, as: context, .read(lists, prepared)) { _ in }
      if case .done = outcome { isMerged = true }
    }
    throw Self.isBusy
  }

  private func readLists() async throws -> ListReconciliation {
    try await read(inSlices: ListReader()) { lists, view in try lists.read(view) }
  }

  /// The list that a revision of the canonical document says; nil if it is not stored.
  func list(_ revision: RevisionID) async throws -> BookmarkList? {
    let found = try await read(inSlices: StoredLists(isSliced: true)) { known, view in
      try known.lists(saidBy: revision, in: view)
    }
    return found.first
  }

  /// Counts ids of merged lists that did not fit into the one list: `bookmarks_left_out_total`.
  private static let leftOutCounter = Counter(label: "bookmarks_left_out_total")

  private static var isBusy: ServiceError {
    ServiceError(.overloaded, "The store's lists change too fast to be merged")
  }

  /// Runs a rule in one update if that has the lists that it needs. Nothing is written otherwise, nor when the rule throws.
  private func attempt<Value: Sendable>(
    _ ids: Set<DocumentID>, at now: Timestamp, as context: WriteContext, _ lists: ListSource,
    answer: Answering<Value>? = nil, _ rule: @escaping BookmarkRule<Value>
  ) async throws -> BookmarkAttempt<Value> {
    let ids = ids.union([BookmarkList.documentID])
    let whole = answer.map { answer -> Answering<(BookmarkAttempt<Value>, Int)> in
      { $0.0.value.flatMap(answer) }
    }
    let (outcome, leftOut) = try await update(loading: ids, as: context, answer: whole) {
      changes -> (BookmarkAttempt<Value>, Int) in
      let view = changes.view
      do {
        guard let (present, preparation) = try lists.lists(in: view) else { return (.unmerged, 0) }
        var edit = BookmarkEdit(
          view, now: now, limit: changes.historyLimits, lists: present, preparation)
        let value = try rule(&edit)
        let (mutations, leftOut) = try edit.finish()
        for mutation in mutations { changes.write(mutation) }
        for local in edit.locals { changes.write(local) }
        for bodies in edit.forgotten { changes.forget(bodies) }
        changes.offered = edit.attachments
        for (revision, contents) in edit.attached { try changes.attach(contents, to: revision) }
        return (.done(value), leftOut)
      } catch is StoredLists.IsLong {
        return (.long(nil), 0)
      } catch let missing as PreparedList.Missing { return (.long(missing.change), 0) }
    }
    if leftOut > 0 { Self.leftOutCounter.increment(by: leftOut) }
    return outcome
  }
}

/// What an update of bookmarks came to.
private enum BookmarkAttempt<Value: Sendable>: Sendable {
  case done(Value)
  /// The lists must be merged first, or have changed since they were read.
  case unmerged
  /// The list is long and must be read, or made, before the update. If it was read: what the rule changes.
  case long(ListChange?)

  var value: Value? { if case .done(let value) = self { value } else { nil } }
}

/// Where an update of bookmarks has the lists from.
private enum ListSource: Sendable {
  /// It reads the one list, unless that is long.
  case short
  /// It reads the one list, however long that is.
  case any
  /// They were read before.
  case read(ListReconciliation, PreparedList?)

  /// The lists of a state of the store.
  /// - Returns: nil when they must be merged, or have changed since.
  /// - Throws: the view's errors; ``StoredLists/IsLong``.
  func lists(in view: any StoreView) throws -> (ListReconciliation, BookmarkEdit.Preparation)? {
    switch self {
    case .short:
      return try ListReconciliation(settledIn: view, knowing: .short)
        .map { ($0, .needless(always: false)) }
    case .any:
      let known = StoredLists(isSliced: false)
      return try ListReconciliation(settledIn: view, knowing: known)
        .map { ($0, .needless(always: true)) }
    case .read(let read, let prepared) where read.isSettled:
      return try ListReconciliation(settledIn: view, knowing: read.known).map { present in
        (present, present.winner == read.winner ? .needed(prepared) : .needless(always: false))
      }
    case .read(let read, let prepared):
      return try read.isCurrent(in: view) ? (read, .needed(prepared)) : nil
    }
  }
}
