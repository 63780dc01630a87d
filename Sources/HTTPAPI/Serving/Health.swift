import Documents
import HTTPTypes
import Hummingbird
import NIOCore
import Stores
import Synchronization

/// The last known health of the server. ``OperationQuestion``s are answered from it at once, on any thread. A separate
/// thread renews it; see ``HTTPService/renewHealth(_:)``.
package final class Health: Sendable {
  /// How often it is renewed, in seconds.
  package static let intervalSeconds = 1
  /// How often the disk is checked while nobody asks, in seconds.
  package static let idleSeconds = 10
  /// How long somebody counts as asking after a question, in seconds.
  package static let attentionSeconds = 60
  /// Older findings, in seconds, are not used: the thread that renews them is stuck.
  package static let staleSeconds = 15

  private struct State {
    var stores: ServiceError?
    var upstream: String?
    /// Damage that could not be repaired without a loss.
    var damage = 0
    /// Whether a database has writes on one disk only.
    var writesOnOneDisk = false
    var metrics = ByteBuffer()
    /// When the stores were checked last.
    var tried: ContinuousClock.Instant?
    /// When somebody last asked for that result.
    var asked: ContinuousClock.Instant?
    var renewals = 0
    /// Whether other requests are accepted only later, or no more.
    var isStarting = false
    var isStopping = false
    /// Identifies the stores' failure in answers and in the log.
    var failureID = ""
  }

  private let state = Mutex(State())
  private let now: @Sendable () -> ContinuousClock.Instant

  /// - Parameter now: the clock.
  package init(now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) { self.now = now }

  /// The number of renewals.
  package var renewalCount: Int { state.withLock { $0.renewals } }

  /// Whether somebody has asked recently.
  package var isAsked: Bool {
    let now = now()
    return state.withLock { $0.asked.map { now - $0 < .seconds(Self.attentionSeconds) } ?? false }
  }

  /// Whether the stores have to be checked again: always while somebody asks, otherwise every ``idleSeconds``.
  var isDue: Bool {
    let now = now()
    return isAsked
      || state.withLock { $0.tried.map { now - $0 >= .seconds(Self.idleSeconds) } ?? true }
  }

  /// Stores the result of a check of the stores.
  /// - Parameter failure: nil if they accept writes.
  /// - Returns: an id of the failure for the log if it is new; nil otherwise.
  func note(stores failure: ServiceError?) -> String? {
    let (now, name) = (now(), RequestRouter.requestID())
    return state.withLock { state in
      let isNew = failure.map { $0.code != state.stores?.code } ?? false
      state.stores = failure
      state.tried = now
      if isNew { state.failureID = name }
      return isNew ? name : nil
    }
  }

  /// Stores the state of the upstream.
  /// - Parameter failure: nil if it answers.
  func note(upstream failure: String?) { state.withLock { $0.upstream = failure } }

  /// Stores how much damage could not be repaired without a loss.
  func note(damage: Int) { state.withLock { $0.damage = damage } }

  /// Stores whether a database has writes on one disk only.
  /// - Returns: whether that was not so before.
  func note(writesOnOneDisk: Bool) -> Bool {
    state.withLock { state in
      defer { state.writesOnOneDisk = writesOnOneDisk }
      return writesOnOneDisk && !state.writesOnOneDisk
    }
  }

  /// Counts a renewal at its beginning.
  func beginRenewal() { state.withLock { $0.renewals += 1 } }

  /// Stores the metrics.
  func note(metrics: [UInt8]) {
    let bytes = ByteBuffer(bytes: metrics)
    state.withLock { $0.metrics = bytes }
  }

  /// Notes that these questions are answered before other requests are: the server is not ready until ``begin()``.
  package func start() { state.withLock { $0.isStarting = true } }

  /// Notes that the server accepts requests.
  package func begin() { state.withLock { $0.isStarting = false } }

  /// Notes that the server accepts no more requests.
  package func stop() { state.withLock { $0.isStopping = true } }

  func answer(_ question: OperationQuestion) -> OperationAnswer {
    switch question {
    case .alive: return Self.alive
    case .metrics: return Self.metrics(state.withLock { $0.metrics })
    case .ready, .up:
      let now = now()
      let known = state.withLock { state in
        state.asked = now
        return state
      }
      let failure = Self.failure(known, at: now)
      return question == .ready
        ? Self.readiness(
          failure, known.upstream, damage: known.damage, writesOnOneDisk: known.writesOnOneDisk)
        : Self.up(failure, known.failureID)
    }
  }

  /// Why the stores accept no writes; a full disk is one reason.
  private static func failure(_ state: State, at now: ContinuousClock.Instant) -> ServiceError? {
    if state.isStarting { return ServiceError(.unavailable, "The server is starting") }
    if state.isStopping { return ServiceError(.unavailable, "The server is stopping") }
    guard let tried = state.tried, now - tried < .seconds(staleSeconds) else {
      return ServiceError(.unavailable, "The storage has not answered for \(staleSeconds) seconds")
    }
    return state.stores
  }

  // MARK: Answers

  private static let alive = json(headers: [.cacheControl: "no-cache"]) {
    $0.member("status", "alive")
  }

  private static func metrics(_ text: ByteBuffer) -> OperationAnswer {
    OperationAnswer(fields: [.contentType: "text/plain; version=0.0.4; charset=utf-8"], body: text)
  }

  /// The answer about readiness. The server is ready if the stores accept writes. It is degraded if the upstream does
  /// not answer, because bookmarks work without it, and if the disk is full or no write is acknowledged, because another
  /// server could not do more, and reads go on. Damage in one person's documents, and that a database has
  /// writes on one disk only, is reported, but does not change the status.
  private static func readiness(
    _ failure: ServiceError?, _ upstream: String?, damage: Int, writesOnOneDisk: Bool
  ) -> OperationAnswer {
    let isUnavailable = failure.map { !leavesReads($0) } ?? false
    let isReady = failure == nil && upstream == nil
    return json(
      isUnavailable ? .serviceUnavailable : .ok, headers: [.cacheControl: "no-store"]
    ) { writer in
      writer.member("status", isUnavailable ? "unavailable" : isReady ? "ready" : "degraded")
      writer.member("stores", failure?.reason ?? "writable")
      writer.member("writes", failure == nil)
      writer.member("upstream", upstream ?? "available")
      if damage > 0 { writer.member("damaged", damage) }
      if writesOnOneDisk { writer.member("writesOnOneDisk", true) }
    }
  }

  /// Whether reads go on although writes are refused.
  private static func leavesReads(_ failure: ServiceError) -> Bool {
    failure.code == .storageFull || failure.code == .outcomeUnknown
  }

  /// CouchDB's answer. A server whose reads go on counts as up.
  private static func up(_ failure: ServiceError?, _ failureID: String) -> OperationAnswer {
    guard let failure, !leavesReads(failure) else {
      return json(headers: Response.couchFields) {
        $0.member("status", "ok")
        // The nodes from which a new one of CouchDB gets its databases.
        $0.member("seeds", raw: Array("{}".utf8))
      }
    }
    let problem = ErrorTable.problem(for: failure, in: .couch)
    var fields = problem.fields(in: .couch)
    if !failureID.isEmpty { fields[.xRequestID] = failureID }
    return OperationAnswer(
      status: problem.status, fields: fields,
      body: ByteBuffer(bytes: problem.bytes(in: .couch, requestID: failureID)))
  }

  private static func json(
    _ status: HTTPResponse.Status = .ok, headers: HTTPFields,
    _ write: (inout JSONWriter) -> Void
  ) -> OperationAnswer {
    var fields = headers
    fields[.contentType] = "application/json"
    return OperationAnswer(
      status: status, fields: fields, body: ByteBuffer(bytes: JSONWriter.object(write)))
  }
}

/// The questions of operators and their probes, which are answered at any time.
enum OperationQuestion: String, CaseIterable, Sendable {
  /// Whether the process answers.
  case alive = "/healthz"
  /// Whether the stores accept writes and the upstream answers.
  case ready = "/readyz"
  case metrics = "/metrics"
  /// CouchDB's question whether the server is up.
  case up = "/couch/_up"

  /// The question of a target, with any query; nil for any other target.
  init?(target: String) {
    let path = target.utf8.prefix { $0 != UInt8(ascii: "?") }
    guard let question = Self.allCases.first(where: { $0.rawValue.utf8.elementsEqual(path) })
    else { return nil }
    self = question
  }
}

/// An answer that is prepared before it is asked for.
struct OperationAnswer: Sendable {
  var status = HTTPResponse.Status.ok
  /// The fields, without the length.
  let fields: HTTPFields
  let body: ByteBuffer

  /// The same answer for a route's handler.
  var response: Response {
    Response(status: status, headers: fields, body: ResponseBody(byteBuffer: body))
  }
}
