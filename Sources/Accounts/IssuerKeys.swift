import Documents
import Scheduling
package import Stores
import Synchronization

/// An issuer's keys. They are fetched when they are first needed and cached for some time.
///
/// There is at most one attempt to fetch them in any 30 seconds. All waiting callers share it. So tokens with
/// invented key names can't cause more requests to the issuer.
final class IssuerKeys: Sendable {
  /// How long keys are used without asking the issuer again, in seconds: 10 minutes. A key that the issuer has
  /// withdrawn is accepted for this long.
  static let freshSeconds: Int64 = 600
  /// How long keys are used while the issuer does not answer, in seconds: 6 hours.
  static let staleSeconds: Int64 = 6 * 3_600
  /// The shortest time between two attempts, in seconds.
  static let retrySeconds: Int64 = 30

  let issuer: TrustedIssuer
  private let documents: any IssuerDocuments
  private let now: @Sendable () -> Timestamp
  private let state = Mutex(State())

  private struct State {
    var keys: IssuerKeySet?
    var gotten: Timestamp?
    var attempted: Timestamp?
    var attempt: Task<Void, Never>?
  }

  init(
    of issuer: TrustedIssuer, documents: any IssuerDocuments,
    now: @escaping @Sendable () -> Timestamp
  ) {
    self.issuer = issuer
    self.documents = documents
    self.now = now
  }

  /// The issuer's key with a name; nil when there is none.
  /// - Throws: `issuerUnavailable` when no usable keys are cached or fetched.
  func key(_ name: IDToken.KeyName) async throws -> IssuerKey? {
    if let key = held(notOlderThan: Self.freshSeconds)?[name] { return key }
    await ask()
    guard let keys = held(notOlderThan: Self.staleSeconds) else {
      throw ServiceError.issuerUnavailable("no keys of \(issuer.url)")
    }
    return keys[name]
  }

  private func held(notOlderThan seconds: Int64) -> IssuerKeySet? {
    let now = now()
    return state.withLock { state in
      // After the clock was set back, keys must not count as newer for longer than necessary.
      guard let moment = state.gotten.map({ min($0, now) }) else { return nil }
      state.gotten = moment
      return now < moment.adding(seconds: seconds) ? state.keys : nil
    }
  }

  /// Joins the attempt in progress, or starts one if enough time has passed. The attempt continues when its first
  /// caller is cancelled, for the callers that have joined.
  private func ask() async {
    let now = now()
    let attempt = state.withLock { state -> Task<Void, Never>? in
      if let attempt = state.attempt { return attempt }
      if let last = state.attempted.map({ min($0, now) }) {
        state.attempted = last
        guard last.adding(seconds: Self.retrySeconds) <= now else { return nil }
      }
      state.attempted = now
      let task = Work.background { await self.get() }
      state.attempt = task
      return task
    }
    if let attempt { await Work.waiting { await attempt.value } }
  }

  private func get() async {
    defer { state.withLock { $0.attempt = nil } }
    do {
      let url = if let known = issuer.keysURL { known } else { try await discoverURL() }
      let keys = try IssuerKeySet(try await documents.document(at: url, of: issuer))
      state.withLock { state in (state.keys, state.gotten) = (keys, now()) }
    } catch { documents.report(error, of: issuer) }
  }

  /// The key set's URL in the issuer's discovery document. The document's `issuer` must equal the issuer's URL byte
  /// by byte (OpenID Connect Discovery 1.0, section 4.3).
  private func discoverURL() async throws -> String {
    let bytes = try await documents.document(at: issuer.discoveryURL, of: issuer)
    guard let root = try? ParsedJSON(bytes, limits: IssuerKeySet.limits).root,
      root["issuer"]?.stringEquals(issuer.url) ?? false, let url = root["jwks_uri"]?.string
    else { throw ServiceError.issuerUnavailable("the discovery document is not this issuer's") }
    return url
  }
}

extension ServiceError {
  /// The error when the keys of a token's issuer can't be fetched.
  package static func issuerUnavailable(_ detail: String) -> ServiceError {
    ServiceError(
      .issuerUnavailable, "The token's issuer can't be reached to verify it.",
      retryAfterSeconds: Int(IssuerKeys.retrySeconds), detail: detail)
  }
}

/// The supported keys of a JSON Web Key Set (RFC 7517 section 5).
struct IssuerKeySet: Sendable {
  /// The largest key set, in bytes: enough for about a hundred keys with their certificates.
  static let limits = JSONLimits(maximumBytes: 256 * 1_024)
  /// The most keys in a set, supported or not.
  static let maximumKeys = 100

  private let keys: [IDToken.KeyName: IssuerKey]

  /// Reads a set. Keys that are not supported are ignored (RFC 7517 section 5). If several keys have the same name
  /// and algorithm, all of them are ignored. An empty set is valid; then no token of the issuer is accepted.
  /// - Throws: `issuerUnavailable` for anything but a key set.
  init(_ bytes: [UInt8]) throws {
    guard let list = try? ParsedJSON(bytes, limits: Self.limits).root["keys"],
      list.kind == .array, list.count <= Self.maximumKeys
    else { throw ServiceError.issuerUnavailable("no key set") }
    let named = Dictionary(grouping: list.elements.compactMap(IssuerKey.init), by: \.name)
    keys = named.compactMapValues { $0.count == 1 ? $0.first : nil }
  }

  subscript(name: IDToken.KeyName) -> IssuerKey? { keys[name] }
}
