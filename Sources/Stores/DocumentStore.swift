package import Documents
import Scheduling

/// One store as use cases see it: an engine's storage, with the quota checked in every update, and the common
/// operations on documents. A value; valid as long as its lease (see
/// ``DatabaseManager/withStore(_:creating:_:)``).
package struct DocumentStore: Sendable {
  package let name: StoreName
  let storage: any StoreStorage
  let subscriptions: Subscriptions
  private let limits: StoreLimits
  /// What the store was given of an account; nil for a store with limits of its own only.
  private let room: StoreRoom?
  package let now: @Sendable () -> Timestamp
  private(set) var follower: CommitFollower
  /// Whether the storage has failed since it was opened.
  let health: StorageHealth
  /// Whether a call that meets damage repairs the store; false for the calls of a repair.
  var repairsDamage = true
  /// Whether an update is followed by the removal of what it leaves of attachments; false for the updates that remove it.
  var removesAbandoned = true
  /// What the follower has still to do.
  let backlog = FollowerBacklog()

  /// Creates a store over its storage.
  /// - Parameter subscriptions: whom to tell of commits.
  /// - Parameter now: the clock that gives documents their times.
  /// - Parameter follower: the rule that runs after commits.
  package init(
    name: StoreName, storage: any StoreStorage, subscriptions: Subscriptions = Subscriptions(),
    limits: StoreLimits, now: @escaping @Sendable () -> Timestamp,
    follower: CommitFollower = .none, room: StoreRoom? = nil
  ) {
    self.room = room
    self.name = name
    self.storage = storage
    health = StorageHealth(isNew: storage.isNew)
    self.subscriptions = subscriptions
    self.limits = limits
    self.now = now
    self.follower = follower
  }

  /// Whether the store was created for the present callers: true once, for one of them.
  package func takeCreation() -> Bool { health.takeCreation() }

  /// Reads one state of the store; see ``StoreStorage/read(_:)``.
  package func read<Value: Sendable>(
    _ query: @escaping StoreQuery<Value>
  ) async throws -> Value { try await retryingAfterRepair { try await storage.read(query) } }

  /// Reads in slices, for reads whose size a client decides.
  ///
  /// A step is a function from a progress to the next one. It works until ``Slice/isOver``, and then returns nil if the
  /// read is not complete. Between two steps other callers can read and write, so that each step may see another state
  /// of the store.
  ///
  /// An engine may run a step again, for example when a connection is lost. The step then starts from the same progress
  /// as before, because that is kept until the step has succeeded. So a step works on a copy: what grows with the read
  /// must be cheap to copy, such as a ``GrowingList``.
  ///
  /// All steps see the same epoch of the store. If the epoch changes, the read begins again, because a position is an
  /// epoch and a sequence number of that epoch.
  /// - Parameter progress: the progress before the first step.
  /// - Throws: what `step` throws; `ended`.
  package func read<Progress: Sendable, Value: Sendable>(
    inSlices progress: Progress,
    _ step: @escaping @Sendable (inout Progress, any StoreView) throws -> Value?
  ) async throws -> Value {
    var (reached, epoch) = (progress, String?.none)
    while true {
      do {
        let isFirst = epoch == nil
        let done = try await storage.read { [reached] view in
          var next = reached
          let value = try step(&next, view)
          // A read in one step has one epoch in any case.
          let epoch: String? = if isFirst, value != nil { nil } else { try view.info().epoch }
          return ReadStep(progress: next, value: value, epoch: epoch)
        }
        if isFirst || done.epoch == epoch {
          if let value = done.value { return value }
          (reached, epoch) = (done.progress, done.epoch)
        } else {
          (reached, epoch) = (progress, nil)
        }
      } catch {
        health.note(error)
        guard await hasRepaired(after: error) else { throw error }
        (reached, epoch) = (progress, nil)
      }
      // Other callers can use the store between two reads, but this task may still run for long.
      try await Slice.giveWay()
      if Slice.isEnded { throw ServiceError.ended }
    }
  }

  /// What `find` finds for each element, in their order; see ``read(inSlices:_:)``.
  package func each<Element: Sendable, Found: Sendable>(
    _ elements: [Element], _ find: @escaping @Sendable (Element, any StoreView) throws -> Found
  ) async throws -> [Found] {
    try await read(inSlices: GrowingList<Found>()) { found, view in
      while found.count < elements.count {
        found.append(try find(elements[found.count], view))
        if view.slice.isOver, found.count < elements.count { return nil }
      }
      return found.all
    }
  }

  /// What `make` makes of the local documents of a range, in their order; see ``read(inSlices:_:)``.
  /// - Throws: `integrity` for a damaged one; the errors of `make`; `ended`.
  package func localValues<Value: Sendable>(
    _ range: DocumentRange,
    _ make: @escaping @Sendable (LocalID, LocalDocument, any StoreView) throws -> Value?
  ) async throws -> [Value] {
    try await read(inSlices: (rest: range, values: GrowingList<Value>())) { progress, view in
      var (rest, values) = progress
      var isWhole = true
      try view.locals(rest) { id, document in
        if let value = try make(id, document, view) { values.append(value) }
        rest = rest.behind(id.text)
        isWhole = !view.slice.isOver
        return isWhole
      }
      progress = (rest, values)
      return isWhole ? values.all : nil
    }
  }

  /// Reads a document or two of one state of the store; see ``StoreStorage/readInline(_:)``.
  package func readInline<Value: Sendable>(
    _ query: @escaping StoreQuery<Value>
  ) async throws -> Value { try await retryingAfterRepair { try await storage.readInline(query) } }

  /// Commits what a rule records; see ``StoreStorage/update(loading:at:_:)``.
  ///
  /// If the context has a receipt and the update makes an answer, the same commit stores it.
  /// - Parameter ids: the documents that the rule reads or changes, as far as they are known before.
  /// - Parameter context: who writes, what pays, until when, and what stores the answer.
  /// - Parameter answer: makes the answer from the rule's outcome; nil for an update that is only a step of a write.
  /// - Throws: also `quotaExceeded` when documents are added or grow beyond the quota;
  ///   ``WriteReceipt/AnsweredBefore``, and `receiptMismatch`; `absent` for what a former member of a list writes that
  ///   would stay theirs; `unavailable` after the deadline.
  @discardableResult
  package func update<Value: Sendable>(
    loading ids: Set<DocumentID> = [], as context: WriteContext,
    answer: Answering<Value>? = nil, _ rule: @escaping UpdateRule<Value>
  ) async throws -> Value {
    while true {
      do {
        return try await updateOnce(loading: ids, as: context, answer: answer, rule)
      } catch let needed as StoreRoom.Needed {
        try await room?.ask(for: needed.bytes, at: now())
      }
    }
  }

  private func updateOnce<Value: Sendable>(
    loading ids: Set<DocumentID>, as context: WriteContext,
    answer: Answering<Value>?, _ rule: @escaping UpdateRule<Value>
  ) async throws -> Value {
    let (limits, moment, concerns, name) = (limits, now(), follower.concerns, name)
    let backlog = backlog
    let (receipt, deadline) = (answer == nil ? nil : context.receipt, context.deadline)
    let meter = name.isGuest ? context.meter : nil
    // What the service writes by itself, such as the names of a list's members, is never refused.
    let room = context.author == .server ? nil : self.room
    let (value, changed, backlogged, kept, metered, left) = try await retryingAfterRepair {
      try await storage.update(loading: ids, at: moment) { changes in
        changes.historyLimits = limits.history
        (changes.author, changes.time) = (context.author, moment)
        try receipt?.checkEarlier(in: changes.view, of: name, at: moment)
        // The present time, because the update may have waited long for the storage.
        try deadline?.check(at: now(), isAnswering: receipt?.mayKeep(in: name) ?? false)
        let value = try rule(&changes)
        if receipt?.mayKeep(in: name) ?? false { try ListWriters.require(changes, in: name) }
        let kept = try receipt?.keep(
          answer?(value), in: &changes, of: name, within: limits, at: moment)
        try LocalShare.settle(&changes, in: name, within: limits, from: context.device, at: moment)
        try PurgeMarks.note(in: &changes, at: moment)
        try Quota.check(&changes, against: limits)
        let left = try room?.check(&changes, at: moment)
        try AttachmentLedger.settle(&changes)
        let metered = try meter?.bytes(of: changes) ?? 0
        let wakes = !changes.mutations.isEmpty || !changes.purges.isEmpty
        let deletes = changes.mutations.contains { $0.tree.winner?.isDeleted ?? true }
        let frees = deletes || !changes.purges.isEmpty
        let any = !changes.isEmpty
        let owed = FollowerBacklog.entries(changes.mutations.filter(concerns).map(\.id))
        let done = backlog.note(owed, in: &changes)
        return (
          value, (any: any, documents: wakes, frees: frees, abandons: changes.leavesAbandoned),
          (owed: owed, done: done), kept, metered, left
        )
      }
    }
    if changed.any { deadline?.begin() }
    meter?.note(metered)
    if let left { try? await room?.ask(for: left, at: moment) }
    if let kept { receipt?.didKeep(kept) }
    if changed.documents { subscriptions.wake(name) }
    backlog.forget(backlogged.done)
    if !backlogged.owed.isEmpty { await follow(backlogged.owed, as: context.maintenance) }
    if changed.abandons, removesAbandoned {
      await Work.waiting { await Work.shared { try? await removeAbandonedAttachments() }.value }
    }
    if changed.frees {
      var store = self
      // What is written then is not followed by more of it.
      store.follower.useRoom = CommitFollower.none.useRoom
      try? await follower.useRoom(store, context.maintenance)
    }
    return value
  }

  /// Gives free disk space back to the system; see ``StoreStorage/compact()``.
  package func compact() async throws { try await noting { try await storage.compact() } }

  package var historyLimits: HistoryLimits { limits.history }
  package var quota: StoreLimits { limits }
}

/// The outcome of one step of a read in slices.
private struct ReadStep<Progress: Sendable, Value: Sendable>: Sendable {
  let progress: Progress
  /// The result of the read; nil when it is not complete.
  let value: Value?
  /// The store's epoch in the step's state; nil if the first step completed the read.
  let epoch: String?
}
