import HTTPTypes
import IPAddresses
import Scheduling
import Stores
import Synchronization

/// The writes that are being carried out and whose answers are kept, at most one of a name. Writes that were accepted
/// before they are done are carried out one after the other for each person, in the order of their arrival.
///
/// A name stays here until its answer can be found elsewhere. So a reader that looks here first misses nothing.
package final class PendingWrites: Sendable {
  /// The limit of accepted writes that are not done. One address may have as many of them as are free.
  package static let total = 1_000
  /// The same limit for one guest or user.
  package static let perPrincipal = 64
  /// The pauses before the three further attempts at a write that failed for a passing reason.
  package static let pauses: [Duration] = [
    .milliseconds(100), .milliseconds(400), .milliseconds(1_600),
  ]
  /// How long a stopping server carries out accepted writes, in seconds.
  package static let stopSeconds = 10
  /// How long a guest's sign-up waits for the guest's accepted writes, in seconds.
  static let settleSeconds = 10
  /// How many answers without a store to keep them are remembered here, the newest ones.
  static let rememberedAtMost = 1_000

  typealias Job = @Sendable () async -> Void

  /// A write that is being carried out.
  private struct Entry {
    /// The digest of its request.
    let request: [UInt8]
    /// Its receipt; nil where a client waits for the answer.
    let receipt: ReceiptID?
    /// Where it came from.
    let address: ClientAddress
    /// The callers that wait for its end, to check again.
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private struct State {
    var entries: [WriteReceipt.Name: Entry] = [:]
    /// The remaining writes of each person who has a task.
    var queues: [AccountID: [(name: WriteReceipt.Name, job: Job)]] = [:]
    /// How many accepted writes of each person are not done.
    var accepted: [AccountID: Int] = [:]
    var acceptedCount = 0
    /// The same of each address.
    var byAddress: [ClientAddress: Int] = [:]
    /// By the text of the write's receipt.
    var remembered: [String: KeptAnswer] = [:]
    var rememberedOrder: [String] = []
    var isStopping = false
    /// The guests who become an account at the moment, and in how many requests.
    var settling: [AccountID: Int] = [:]
    /// How many writes of such a guest follow the accepted ones.
    var following: [AccountID: Int] = [:]
    /// Who is told when a guest's accepted writes are done, and when those that follow them are.
    var watching: [AccountID: [Int: AsyncStream<Void>.Continuation]] = [:]
    var lastWatch = 0
    var waiting: [CheckedContinuation<Void, Never>] = []

    func tell(_ guest: AccountID) {
      for watch in (watching[guest] ?? [:]).values { watch.yield() }
    }
  }

  private let state = Mutex(State())

  /// How many accepted writes are not done.
  package var count: Int { state.withLock { $0.acceptedCount } }

  /// Whether the server stops. It then accepts nothing before it is done, and tries nothing again.
  var isStopping: Bool { state.withLock { $0.isStopping } }

  /// Whether a person's write may be accepted before it is done: not while the server stops or the guest becomes an
  /// account.
  func accepts(from owner: AccountID) -> Bool {
    state.withLock { !$0.isStopping && $0.settling[owner] == nil }
  }

  /// Runs a sign-up or log-in that ends a guest when the guest's accepted writes are done, and those that follow them. After it
  /// they would be refused, and nobody could read their receipts. Meanwhile nothing of the guest is accepted before it is done.
  ///
  /// After ``settleSeconds`` it runs nevertheless.
  /// - Parameter guest: nil for a sign-up or log-in without a guest.
  func settled<Value>(_ guest: AccountID?, _ body: () async throws -> Value) async throws -> Value {
    guard let guest else { return try await body() }
    state.withLock { Self.add(1, for: guest, to: &$0.settling) }
    defer { state.withLock { Self.add(-1, for: guest, to: &$0.settling) } }
    try await wait(for: guest) { $0.accepted[guest] != nil || $0.following[guest] != nil }
    return try await body()
  }

  /// Runs a write that might have been accepted. If it was not because its guest becomes an account, it waits for the accepted
  /// ones: one of them may be an earlier write of the same bookmark.
  func following<Value>(
    _ owner: AccountID, _ body: () async throws -> Value
  ) async throws -> Value {
    let mustWait = state.withLock { state in
      guard state.settling[owner] != nil else { return false }
      Self.add(1, for: owner, to: &state.following)
      return true
    }
    guard mustWait else { return try await body() }
    defer {
      state.withLock { state in
        Self.add(-1, for: owner, to: &state.following)
        state.tell(owner)
      }
    }
    try await wait(for: owner) { $0.accepted[owner] != nil }
    return try await body()
  }

  /// Whether a write follows the accepted ones of a guest who becomes an account.
  func isFollowed(_ owner: AccountID) -> Bool { state.withLock { $0.following[owner] != nil } }

  private static func add(_ change: Int, for owner: AccountID, to counts: inout [AccountID: Int]) {
    let count = counts[owner, default: 0] + change
    counts[owner] = count > 0 ? count : nil
  }

  /// Waits as long as a condition about a guest holds, at most ``settleSeconds``.
  private func wait(for guest: AccountID, while isBusy: (State) -> Bool) async throws {
    let (ends, end) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let watch = state.withLock { state in
      state.lastWatch += 1
      state.watching[guest, default: [:]][state.lastWatch] = end
      return state.lastWatch
    }
    let timer = Task {
      try await Task.sleep(for: .seconds(Self.settleSeconds))
      end.finish()
    }
    defer {
      timer.cancel()
      state.withLock { state in
        state.watching[guest]?[watch] = nil
        if state.watching[guest]?.isEmpty ?? false { state.watching[guest] = nil }
      }
    }
    await Work.waiting {
      var next = ends.makeAsyncIterator()
      while state.withLock({ isBusy($0) }), await next.next() != nil {}
    }
    try Task.checkCancellation()
  }

  /// Begins a write; ``end(_:)`` ends it. It waits for a write of the same name that is being carried out.
  /// - Parameter receipt: the receipt of an accepted write; nil if a client waits for the answer.
  /// - Returns: nil if the write is begun. If `receipt` is given and the same write was accepted before and is not
  ///   done, its receipt: the write is not begun again.
  /// - Throws: `receiptMismatch` for another request of that name; `ended`; ``Problem`` 429 at the person's limit, 503
  ///   at the limit of the server or of the address.
  func begin(
    _ name: WriteReceipt.Name, _ request: [UInt8], receipt: ReceiptID?, from address: ClientAddress
  ) async throws -> ReceiptID? {
    while let entry = try beginUnlessRunning(name, request, receipt, address) {
      if receipt != nil, let known = entry.receipt { return known }
      await waitForEnd(of: name)
      if Slice.isEnded { throw ServiceError.ended }
    }
    return nil
  }

  /// - Returns: the write of the same name that is being carried out; nil if this write is begun.
  private func beginUnlessRunning(
    _ name: WriteReceipt.Name, _ request: [UInt8], _ receipt: ReceiptID?, _ address: ClientAddress
  ) throws -> Entry? {
    try state.withLock { state in
      if let entry = state.entries[name] {
        guard entry.request == request else { throw ServiceError.receiptMismatch }
        return entry
      }
      if receipt != nil {
        guard state.settling[name.owner] == nil else { throw Self.full }
        guard state.accepted[name.owner, default: 0] < Self.perPrincipal else { throw Self.tooMany }
        guard state.byAddress[address, default: 0] < Self.total - state.acceptedCount else {
          throw Self.full
        }
        state.accepted[name.owner, default: 0] += 1
        state.byAddress[address, default: 0] += 1
        state.acceptedCount += 1
      }
      state.entries[name] = Entry(request: request, receipt: receipt, address: address)
      return nil
    }
  }

  /// Waits until a write is no longer being carried out.
  private func waitForEnd(of name: WriteReceipt.Name) async {
    await Work.waiting {
      await withCheckedContinuation { continuation in
        let isWaiting = state.withLock { state in
          guard state.entries[name] != nil else { return false }
          state.entries[name]?.waiting.append(continuation)
          return true
        }
        if !isWaiting { continuation.resume() }
      }
    }
  }

  /// Ends a write that was begun.
  func end(_ name: WriteReceipt.Name) {
    let waiting = state.withLock { state -> [CheckedContinuation<Void, Never>] in
      guard let entry = state.entries.removeValue(forKey: name) else { return [] }
      guard entry.receipt != nil else { return entry.waiting }
      let left = state.accepted[name.owner, default: 1] - 1
      state.accepted[name.owner] = left > 0 ? left : nil
      if left <= 0 { state.tell(name.owner) }
      let there = state.byAddress[entry.address, default: 1] - 1
      state.byAddress[entry.address] = there > 0 ? there : nil
      state.acceptedCount -= 1
      guard state.acceptedCount == 0 else { return entry.waiting }
      defer { state.waiting = [] }
      return entry.waiting + state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  /// Carries out an accepted write after the earlier ones of the same person, and ends it. Its processor time is
  /// charged to the caller.
  func append(_ name: WriteReceipt.Name, _ job: @escaping Job) {
    let isFirst = state.withLock { state in
      let isFirst = state.queues[name.owner] == nil
      state.queues[name.owner, default: []].append((name, job))
      return isFirst
    }
    guard isFirst else { return }
    _ = Work.shared { [self] in
      while let (name, job) = next(of: name.owner) {
        await job()
        end(name)
      }
    }
  }

  private func next(of owner: AccountID) -> (name: WriteReceipt.Name, job: Job)? {
    state.withLock { state in
      guard state.queues[owner]?.isEmpty == false else {
        state.queues[owner] = nil
        return nil
      }
      return state.queues[owner]?.removeFirst()
    }
  }

  /// Whether a write is being carried out or is accepted.
  func contains(_ name: WriteReceipt.Name) -> Bool { state.withLock { $0.entries[name] != nil } }

  /// Remembers the answer to a write that wrote nothing, if no store keeps it.
  func remember(_ receipt: ReceiptID, _ answer: KeptAnswer) {
    state.withLock { state in
      if state.remembered.updateValue(answer, forKey: receipt.text) == nil {
        state.rememberedOrder.append(receipt.text)
      }
      if state.rememberedOrder.count > Self.rememberedAtMost {
        state.remembered[state.rememberedOrder.removeFirst()] = nil
      }
    }
  }

  func rememberedAnswer(to receipt: ReceiptID) -> KeptAnswer? {
    state.withLock { $0.remembered[receipt.text] }
  }

  /// Accepts nothing more, and waits at most ``stopSeconds`` for the accepted writes. The others are not carried out,
  /// and their receipts say so.
  package func finish() async {
    let timer = Task {
      guard (try? await Task.sleep(for: .seconds(Self.stopSeconds))) != nil else { return }
      for continuation in dropQueued() { continuation.resume() }
    }
    await withCheckedContinuation { continuation in
      let isDone = state.withLock { state in
        state.isStopping = true
        if state.acceptedCount > 0 { state.waiting.append(continuation) }
        return state.acceptedCount == 0
      }
      if isDone { continuation.resume() }
    }
    timer.cancel()
  }

  private func dropQueued() -> [CheckedContinuation<Void, Never>] {
    state.withLock { state in
      for owner in state.queues.keys { state.queues[owner] = [] }
      defer { state.waiting = [] }
      return state.waiting
    }
  }

  private static let tooMany = Problem(
    .tooManyRequests, "too_many_requests",
    "At most \(perPrincipal) of your writes may wait to be carried out", retryAfter: 1)
  private static let full = Problem(
    .serviceUnavailable, "overloaded", "Too many writes wait to be carried out", retryAfter: 1)
}
