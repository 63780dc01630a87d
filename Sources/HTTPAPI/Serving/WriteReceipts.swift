import Accounts
import Documents
import HTTPServer
import HTTPTypes
import Hummingbird
import Scheduling
import Stores

/// Carries out writes with options. A write with an idempotency key that was carried out before gets the earlier
/// answer. A write whose client prefers not to wait is accepted, carried out after the answer, and has a receipt.
///
/// It is between the router and every route that declares that something is kept of its answers
/// (``Route/Answer/isKept``), so handlers don't depend on it. A handler passes the call's ``WriteContext`` on, which has
/// the ``WriteReceipt``.
struct WriteReceipts: Sendable {
  let stores: DatabaseManager
  let pending: PendingWrites
  let authentication: Authentication
  let pause: @Sendable (Duration) async -> Void
  let now: @Sendable () -> Timestamp

  private struct Write: Sendable {
    let name: WriteReceipt.Name
    let request: [UInt8]
    let list: AccountID?
    let principal: Principal
    var call: Call
    let route: Route
    /// The receipt of an accepted write.
    var receipt: ReceiptID?
    /// Until when an accepted write may be carried out; nil for no limit.
    var deadline: WriteDeadline?

    /// The stores that may keep its answer.
    var stores: [StoreName] { ReceiptID.stores(own: principal.store, list: list) }
  }

  /// Answers a request of a route.
  /// - Throws: the errors of the handler; with a key also `receiptMismatch`, and ``Problem`` 400, 413, 429 and 503.
  func answer(_ call: Call, _ principal: Principal, _ route: Route) async throws -> Response {
    guard route.answer.isKept, principal.kind != .administrator,
      let options = try WriteOptions(call)
    else { return try await route.run(call, principal) }
    let (call, bodyBytes, request) = try await options.read(call)
    let write = Write(
      name: WriteReceipt.Name(owner: principal.id, token: options.token), request: request,
      list: call.namedList, principal: principal, call: call, route: route)
    if options.isAsync, route.answer == .kept, let bodyBytes,
      pending.accepts(from: principal.id)
    {
      return try await accept(write, bodyBytes: bodyBytes, mayBeKnown: options.hasKey)
    }
    guard options.isAsync else { return try await answer(write, hasKey: options.hasKey) }
    return try await pending.following(principal.id) {
      try await answer(write, hasKey: options.hasKey)
    }
  }

  /// Answers a write when it is done.
  private func answer(_ write: Write, hasKey: Bool) async throws -> Response {
    guard hasKey else { return try await write.route.run(write.call, write.principal) }
    _ = try await pending.begin(write.name, write.request, receipt: nil, from: write.call.address)
    defer { pending.end(write.name) }
    if let earlier = try await earlier(write) { return earlier }
    return try await carryOut(write).response
  }

  /// The answer to an earlier request with the same name; nil if there is none.
  private func earlier(_ write: Write) async throws -> Response? {
    let answer = try await answer(of: write.name, to: write.request, in: write.stores)
    guard let answer, !answer.isRejection else { return nil }
    return try Self.repeated(answer)
  }

  /// The answer to a request that was carried out before.
  /// - Throws: ``Problem`` 409 if only that is known.
  private static func repeated(_ answer: KeptAnswer) throws -> Response {
    guard !answer.isGone else { throw Problem.answerGone(answer) }
    return WriteAnswer(answer).response
  }

  /// Carries a write out and keeps its answer.
  /// - Returns: the answer, and whether a store keeps it. A write that has written nothing may leave none.
  private func carryOut(_ write: Write) async throws -> (response: Response, isKept: Bool) {
    let receipt = WriteReceipt(
      write.name, request: write.request, in: write.stores, accepted: write.receipt?.issued,
      keepsBody: write.route.answer == .kept)
    defer { receipt.end() }
    var call = write.call
    call.writeContext.receipt = receipt
    call.writeContext.deadline = write.deadline
    do {
      return (try await write.route.run(call, write.principal), receipt.kept != nil)
    } catch let earlier as WriteReceipt.AnsweredBefore {
      return (try Self.repeated(earlier.answer), true)
    } catch {
      // The write is committed, whatever failed after it.
      guard let kept = receipt.kept else { throw error }
      return (try Self.repeated(kept), true)
    }
  }

  // MARK: Writes that are answered before they are done

  /// Accepts a write.
  /// - Parameter mayBeKnown: whether it may have been carried out before.
  private func accept(_ write: Write, bodyBytes: Int, mayBeKnown: Bool) async throws -> Response {
    let reservation = write.call.context.reservation?.detached()
    guard reservation?.reserveBody(bodyBytes) ?? true else { throw Problem(.overloaded) }
    let id = ReceiptID(of: write.name, list: write.list, at: now())
    let address = write.call.address
    if let known = try await pending.begin(write.name, write.request, receipt: id, from: address) {
      return Self.accepted(known)
    }
    do {
      if mayBeKnown, let earlier = try await earlier(write) {
        pending.end(write.name)
        return earlier
      }
    } catch {
      pending.end(write.name)
      throw error
    }
    let deadline =
      stores.isShared
      ? WriteDeadline(id.issued.adding(seconds: StoreLimits.acceptedSeconds)) : nil
    var detached = write
    (detached.receipt, detached.deadline) = (id, deadline)
    detached.call = write.call.detached(reservation: reservation)
    pending.append(write.name) { [detached] in await finish(detached) }
    return Self.accepted(id)
  }

  private static func accepted(_ id: ReceiptID) -> Response {
    .json(
      .accepted,
      headers: [
        .location: "/v1/receipts/" + id.text, .preferenceApplied: "respond-async",
        .cacheControl: "no-store",
      ]
    ) { writer in
      writer.member("id", id.text)
      writer.member("status", "pending")
    }
  }

  /// Carries out an accepted write, tries again after a passing failure, and keeps the result.
  private func finish(_ write: Write) async {
    for failures in 0... {
      guard let problem = await attempt(write) else { return }
      guard problem.isPassing, failures < PendingWrites.pauses.count, !pending.isStopping,
        !(write.deadline?.isOver(at: now()) ?? false)
      else {
        let requestID = RequestRouter.requestID()
        problem.log(as: requestID, to: write.call.context.logger)
        await keepResult(KeptAnswer(problem, requestID: requestID), of: write)
        return
      }
      await pause(PendingWrites.pauses[failures])
    }
  }

  /// - Returns: the reason why it was not carried out; nil if it was.
  private func attempt(_ write: Write) async -> Problem? {
    let work = Work.current.map { Work($0.account, in: $0.seats) }
    if let memory = write.call.context.reservation { work?.setMemory(memory) }
    defer { work?.finish() }
    await work?.begin()
    return await Work.$current.withValue(work) { await attempt(write, work) }
  }

  private func attempt(_ write: Write, _ work: Work?) async -> Problem? {
    if write.route.completion == .always { work?.mustFinish() }
    do {
      try await Slice.begin()
      // Since it was accepted, a guest may have become a user, or the account may be erased.
      try await authentication.requireStillValid(write.principal)
      try write.deadline?.check(at: now(), isAnswering: true)
      let (response, isKept) = try await carryOut(write)
      if !isKept, let answer = try? await response.collected() {
        await keepResult(answer.kept, of: write)
      }
      // The same may have happened during the write. Then this erases the store that the write has created again.
      try? await authentication.requireStillValid(write.principal)
      return nil
    } catch {
      return work.flatMap { work in work.reason.map { EndedWork.problem($0, work) } }
        ?? ErrorTable.problem(for: error)
    }
  }

  /// Keeps the answer to a write that has written nothing: in the writer's own store if there is one.
  private func keepResult(_ answer: KeptAnswer, of write: Write) async {
    let receipt = WriteReceipt(
      write.name, request: write.request, in: [], accepted: write.receipt?.issued)
    let isKept = try? await stores.withStore(write.principal.store, creating: false) { store in
      try await store?.keep(answer, of: receipt, as: write.call.writeContext) != nil
    }
    if isKept != true, let id = write.receipt { pending.remember(id, answer) }
  }

  /// The kept answer to a write. An answer of a write that was carried out has priority over a refusal; see
  /// ``DocumentStore/answer(kept:to:accepted:)``.
  private func answer(
    of name: WriteReceipt.Name, to request: [UInt8]? = nil, in storeNames: [StoreName],
    accepted: Timestamp? = nil
  ) async throws -> KeptAnswer? {
    var rejection: KeptAnswer?
    for storeName in storeNames {
      let answer = try await stores.withStore(storeName, creating: false) { store in
        try await store?.answer(kept: name, to: request, accepted: accepted)
      }
      guard let answer else { continue }
      guard answer.isRejection else { return answer }
      rejection = answer
    }
    return rejection
  }

  // MARK: The results of accepted writes

  /// The state of an accepted write.
  enum State: Sendable {
    /// It is being carried out or waits for that.
    case pending
    /// It was carried out, with this answer.
    case committed(KeptAnswer)
    /// It was not carried out, for this reason.
    case rejected(KeptAnswer)
  }

  /// The state of a receipt's write; nil for a receipt that has expired.
  ///
  /// A write that is neither pending nor committed is lost: the process that accepted it has stopped. Another server may
  /// still carry it out for ``StoreLimits/acceptedDecidedSeconds``.
  func state(of id: ReceiptID, _ principal: Principal) async throws -> State? {
    if pending.contains(id.name) { return .pending }
    // Read before the stores: a write that is committed after the look into them is still within the limit then.
    let age = (now().milliseconds - id.issued.milliseconds) / 1_000
    let storeNames = ReceiptID.stores(own: principal.store, list: id.list)
    if let answer = try await answer(of: id.name, in: storeNames, accepted: id.issued)
      ?? pending.rememberedAnswer(to: id)
    {
      return answer.isRejection ? .rejected(answer) : .committed(answer)
    }
    if stores.isShared, age <= StoreLimits.acceptedDecidedSeconds { return .pending }
    guard age.magnitude < StoreLimits.receiptSeconds else { return nil }
    return .rejected(KeptAnswer(Self.stopped, requestID: RequestRouter.requestID()))
  }

  private static let stopped = Problem(
    .serviceUnavailable, "unavailable", "Not carried out: the server stopped. Send it again")
}

extension Call {
  /// The shared list that the request's path or query names, as its handler reads them.
  fileprivate var namedList: AccountID? {
    let name = (try? parameter("listID")) ?? (try? query("list"))?["list"]
    return name.flatMap { AccountID($0) }
  }
}

extension KeptAnswer {
  /// The answer of a refusal.
  fileprivate init(_ problem: Problem, requestID: String) {
    let bytes = problem.bytes(in: .problem, requestID: requestID)
    self.init(status: problem.status.code, body: Array(bytes.dropLast()))
  }
}

extension Problem {
  /// The answer to a repeated request that was carried out, if its answer is not kept. `location` names what it made.
  fileprivate static func answerGone(_ answer: KeptAnswer) -> Problem {
    var problem = Problem(
      .conflict, "answer_gone",
      "This request was carried out before, with status \(answer.status), and is not carried out again; its answer is "
        + "not kept")
    problem.members = ["answered": .number(JSONNumber(answer.status))]
    if let location = answer.location { problem.members.append("location", .string(location)) }
    return problem
  }

  /// Whether the same request may succeed in a moment.
  fileprivate var isPassing: Bool {
    switch status {
    case .serviceUnavailable: headers[.retryAfter] != nil
    case .tooManyRequests: ["overloaded", "overdrawn"].contains(error)
    default: status == .gatewayTimeout
    }
  }
}
