import HTTPTypes
import Hummingbird
import JSON
import NIOCore
import Stores
import Synchronization

/// How the server is, as it was found last: what ``OperationQuestion``s are answered from, on any thread and at once.
/// A thread of its own renews it; see ``HTTPService/renewHealth(_:)``.
package final class Health: Sendable {
  /// How often it is renewed, in seconds.
  package static let intervalSeconds = 1
  /// How often the disk is tried while nobody asks, in seconds.
  package static let idleSeconds = 10
  /// For how long somebody who asked counts as asking, in seconds.
  package static let attentionSeconds = 60
  /// The age from which on a finding counts for nothing, in seconds: whoever renews it is stuck.
  package static let staleSeconds = 15

  private struct State {
    var stores: ServiceError?
    var upstream: String?
    /// Damage that could not be mended without a loss.
    var damage = 0
    var metrics = ByteBuffer()
    /// When the stores were tried last.
    var tried: ContinuousClock.Instant?
    /// When somebody asked for what that found.
    var asked: ContinuousClock.Instant?
    var renewals = 0
    var isStopping = false
    /// Names the stores' failure in answers and in the log.
    var failureID = ""
  }

  private let state = Mutex(State())
  private let now: @Sendable () -> ContinuousClock.Instant

  /// - Parameter now: the clock.
  package init(now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
    self.now = now
  }

  /// How often it was renewed.
  package var renewalCount: Int { state.withLock { $0.renewals } }

  /// Whether somebody asks, or did a while ago.
  package var isAsked: Bool {
    let now = now()
    return state.withLock { $0.asked.map { now - $0 < .seconds(Self.attentionSeconds) } ?? false }
  }

  /// Whether the stores are to be tried again: always while somebody asks, otherwise now and then.
  var isDue: Bool {
    let now = now()
    return isAsked
      || state.withLock { $0.tried.map { now - $0 >= .seconds(Self.idleSeconds) } ?? true }
  }

  /// Takes what trying the stores came to.
  /// - Parameter failure: nil where they take writes.
  /// - Returns: a name for the failure where it is a new one, for the log.
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

  /// Takes what the upstream says.
  /// - Parameter failure: nil where it answers.
  func note(upstream failure: String?) { state.withLock { $0.upstream = failure } }

  /// Takes how much damage is known that could not be mended without a loss.
  func note(damage: Int) { state.withLock { $0.damage = damage } }

  /// Counts a renewal that begins.
  func beginRenewal() { state.withLock { $0.renewals += 1 } }

  /// Takes the metrics.
  func note(metrics: [UInt8]) {
    let bytes = ByteBuffer(bytes: metrics)
    state.withLock { $0.metrics = bytes }
  }

  /// The server takes no more requests.
  package func stop() { state.withLock { $0.isStopping = true } }

  /// The answer to a question.
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
        ? Self.readiness(failure, known.upstream, damage: known.damage)
        : Self.up(failure, known.failureID)
    }
  }

  /// Why stores take no writes, a full disk included.
  private static func failure(_ state: State, at now: ContinuousClock.Instant) -> ServiceError? {
    if state.isStopping { return ServiceError(.unavailable, "The server is stopping") }
    guard let tried = state.tried, now - tried < .seconds(staleSeconds) else {
      return ServiceError(.unavailable, "The storage has not answered for \(staleSeconds) seconds")
    }
    return state.stores
  }

  // MARK: Words

  private static let alive = json(headers: [.cacheControl: "no-cache"]) {
    $0.member("status", "alive")
  }

  private static func metrics(_ text: ByteBuffer) -> OperationAnswer {
    OperationAnswer(fields: [.contentType: "text/plain; version=0.0.4; charset=utf-8"], body: text)
  }

  /// Ready is: stores take writes. An upstream that does not answer makes it degraded, for bookmarks work; so
  /// does a full disk, for all but what grows works. Damage of one person's documents is told, and the server is as
  /// ready as it was for everybody else.
  private static func readiness(
    _ failure: ServiceError?, _ upstream: String?, damage: Int
  ) -> OperationAnswer {
    let isUnavailable = failure.map { $0.code != .storageFull } ?? false
    let isReady = failure == nil && upstream == nil
    return json(
      isUnavailable ? .serviceUnavailable : .ok, headers: [.cacheControl: "no-store"]
    ) { writer in
      writer.member("status", isUnavailable ? "unavailable" : isReady ? "ready" : "degraded")
      writer.member("stores", failure?.reason ?? "writable")
      writer.member("upstream", upstream ?? "available")
      if damage > 0 { writer.member("damaged", damage) }
    }
  }

  /// A full disk refuses only what grows.
  private static func up(_ failure: ServiceError?, _ failureID: String) -> OperationAnswer {
    guard let failure, failure.code != .storageFull else {
      return json(headers: Response.couchFields) { $0.member("status", "ok") }
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
    var writer = JSONWriter()
    writer.beginObject()
    write(&writer)
    writer.endObject()
    return OperationAnswer(status: status, fields: fields, body: ByteBuffer(bytes: writer.bytes))
  }
}

/// What operators and their probes ask, at any time.
enum OperationQuestion: String, CaseIterable, Sendable {
  /// Whether the process answers.
  case alive = "/healthz"
  /// Whether stores take writes and the upstream answers.
  case ready = "/readyz"
  /// The metrics.
  case metrics = "/metrics"
  /// CouchDB's question whether the server is up.
  case up = "/couch/_up"

  /// The question that a target asks, with any query; nil for any other target.
  init?(target: String) {
    let path = target.utf8.prefix { $0 != UInt8(ascii: "?") }
    guard let question = Self.allCases.first(where: { $0.rawValue.utf8.elementsEqual(path) })
    else { return nil }
    self = question
  }
}

/// An answer that is known before it is asked for.
struct OperationAnswer: Sendable {
  /// The status.
  var status = HTTPResponse.Status.ok
  /// The fields, without the length.
  let fields: HTTPFields
  /// The body.
  let body: ByteBuffer

  /// As a route's handler answers it.
  var response: Response {
    Response(status: status, headers: fields, body: ResponseBody(byteBuffer: body))
  }
}
