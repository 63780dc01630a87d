package import Documents
import NIOConcurrencyHelpers

/// A write whose answer is stored in the same transaction as the write, for a client that may not receive the
/// answer.
///
/// When the client retries with the same idempotency key, it gets the stored answer, and the write is not
/// repeated. A receipt never reports a write as committed that is not in the store.
///
/// ``WriteContext`` carries it to the updates. The update whose `answer` closure makes the answer stores it as a local
/// document in its own transaction. The other updates of the write are steps before and after that one; each of them may
/// run again when the write is repeated.
package final class WriteReceipt: Sendable {
  /// The key of a stored answer: its owner, and one of the owner's writes.
  package struct Name: Hashable, Sendable {
    /// The account that writes.
    package let owner: AccountID
    /// 32 hex digits: from the digest of the idempotency key, or random for a receipt.
    package let token: String

    package init(owner: AccountID, token: String) {
      self.owner = owner
      self.token = token
    }

    package var id: LocalID { LocalID(answer: token, to: owner.text) }
  }

  /// The request was carried out before. This error has the answer of that time; nothing was written now.
  package struct AnsweredBefore: Error {
    package let answer: KeptAnswer
  }

  private struct State {
    var kept: KeptAnswer?
    var isOver = false

    /// Whether the next update may store the answer.
    var isNext: Bool { kept == nil && !isOver }
  }

  /// The key of the answer.
  package let name: Name
  /// The digest of the request. It distinguishes the request from another one with the same key.
  package let request: [UInt8]
  private let stores: [StoreName]
  /// When the write was accepted, which distinguishes it from others with the same key; nil if its client waits.
  fileprivate let accepted: Timestamp?
  /// Whether the answer's body may be stored. If not, only that the write was carried out, and what it made.
  fileprivate let keepsBody: Bool
  private let state = NIOLockedValueBox(State())

  /// Creates a receipt for a write.
  /// - Parameter stores: the stores that may hold the answer and are searched for it.
  /// - Parameter accepted: when the write was accepted; nil if its client waits for the answer.
  /// - Parameter keepsBody: false for a write whose answer is a secret.
  package init(
    _ name: Name, request: [UInt8], in stores: [StoreName], accepted: Timestamp? = nil,
    keepsBody: Bool = true
  ) {
    self.keepsBody = keepsBody
    self.name = name
    self.request = request
    self.stores = stores
    self.accepted = accepted
  }

  /// The answer that is stored; nil if none is.
  package var kept: KeptAnswer? { state.withLockedValue { $0.kept } }

  /// Ends the receipt. What a task writes after the request has ended is not part of it.
  package func end() { state.withLockedValue { $0.isOver = true } }

  /// Whether the next update of a store may store the answer.
  func mayKeep(in store: StoreName) -> Bool {
    stores.contains(store) && state.withLockedValue { $0.isNext }
  }

  /// Checks whether the store already has the answer.
  /// - Throws: ``AnsweredBefore`` if it has the answer to an earlier request, `receiptMismatch` if that was
  ///   another request.
  func checkEarlier(in view: any StoreView, of store: StoreName, at now: Timestamp) throws {
    guard mayKeep(in: store),
      let stored = try view.storedAnswer(name, at: now), !stored.answer.isRejection
    else { return }
    throw AnsweredBefore(answer: try stored.answer(to: request))
  }

  /// Stores the answer with an update's own changes.
  /// - Parameter answer: the update's answer; nil if it makes none.
  /// - Returns: what is stored; nil for an update without a stored answer.
  func keep(
    _ answer: @autoclosure () -> KeptAnswer?, in changes: inout StoreChanges, of store: StoreName,
    within limits: StoreLimits, at now: Timestamp
  ) throws -> KeptAnswer? {
    guard mayKeep(in: store), var answer = answer() else { return nil }
    answer.changes = changes.mutations.map { mutation in
      KeptAnswer.Change(id: mutation.id, revision: mutation.revision)
    }
    let stored = stored(answer, at: now)
    try changes.keep(stored, as: name, in: store, within: limits)
    return stored.answer
  }

  fileprivate func stored(_ answer: KeptAnswer, at now: Timestamp) -> StoredAnswer {
    StoredAnswer(
      keepsBody || answer.isRejection ? answer : answer.withoutBody, to: request,
      expires: now.adding(seconds: StoreLimits.receiptSeconds), accepted: accepted)
  }

  /// Records that the update that stores the answer is committed.
  func didKeep(_ kept: KeptAnswer) { state.withLockedValue { $0.kept = kept } }
}

/// Until when an accepted write may be carried out. It holds for the update that stores the answer, and for all updates
/// before it, until one of them has changed something.
package final class WriteDeadline: Sendable {
  private let time: Timestamp
  private let hasBegun = NIOLockedValueBox(false)

  package init(_ time: Timestamp) { self.time = time }

  /// Whether no attempt at the write may begin any more.
  package func isOver(at now: Timestamp) -> Bool { now > time }

  /// Checks whether an update may be committed.
  /// - Parameter isAnswering: whether it may store the answer.
  /// - Throws: `unavailable`.
  package func check(at now: Timestamp, isAnswering: Bool) throws {
    guard isOver(at: now), isAnswering || !hasBegun.withLockedValue({ $0 }) else { return }
    throw ServiceError.late
  }

  /// Records that an update has changed something.
  func begin() { hasBegun.withLockedValue { $0 = true } }
}

extension StoredAnswer {
  /// The answer.
  /// - Throws: `receiptMismatch` when it is the answer to another request.
  fileprivate func answer(to request: [UInt8]) throws -> KeptAnswer {
    guard self.request == request else { throw ServiceError.receiptMismatch }
    return answer
  }
}

extension ServiceError {
  /// 422: the key was used for another request.
  package static let receiptMismatch = ServiceError(
    .receiptMismatch, "The idempotency key was used for another request before")
  /// 503: an accepted write could not be carried out before its deadline.
  static let late = ServiceError(
    .unavailable,
    "Not carried out within \(StoreLimits.acceptedSeconds) seconds. Send it again")
}

extension DocumentStore {
  /// The stored answer to a write; nil when there is none.
  /// - Parameter request: the digest of the request that the answer must belong to; nil for any request.
  /// - Parameter accepted: when the write was accepted. Refusals of other writes with the same key are passed over.
  /// - Throws: `receiptMismatch` for the answer to another request, unless that answer is a refusal.
  package func answer(
    kept name: WriteReceipt.Name, to request: [UInt8]? = nil, accepted: Timestamp? = nil
  ) async throws -> KeptAnswer? {
    let moment = now()
    return try await readInline { view in
      let stored = try view.storedAnswer(name, at: moment)
      if let stored, stored.answer.isRejection, let accepted, let other = stored.accepted,
        other != accepted
      {
        return nil
      }
      guard let stored, let request, !stored.answer.isRejection else { return stored?.answer }
      return try stored.answer(to: request)
    }
  }

  /// Stores the answer to a write that no update has stored: of one that was refused, or that had nothing to write.
  ///
  /// A refusal never replaces an answer that is not a refusal, because a request that failed may still have
  /// been carried out.
  /// - Throws: the errors of ``update(loading:as:answer:_:)``.
  package func keep(
    _ answer: KeptAnswer, of receipt: WriteReceipt, as context: WriteContext
  ) async throws {
    let (name, moment, limits, store) = (receipt.name, now(), quota, self.name)
    try await update(as: context) { changes in
      if answer.isRejection {
        let stored = try changes.view.storedAnswer(name, at: moment)
        guard stored?.answer.isRejection ?? true else { return }
      }
      try changes.keep(receipt.stored(answer, at: moment), as: name, in: store, within: limits)
    }
  }
}
