import Documents

/// An issuer's keys, gotten when they are first needed and kept for a while.
///
/// At most one attempt to get them is made in any 30 seconds, and those who wait for it share it: however many
/// tokens with made-up key names arrive, the issuer is asked no more often than that.
actor IssuerKeys {
  /// How old keys may be that are used without asking, in seconds: 10 minutes. So long a key works on that the
  /// issuer has taken back.
  static let freshSeconds: Int64 = 600
  /// How old keys may be that are used while the issuer does not answer, in seconds: 6 hours.
  static let staleSeconds: Int64 = 6 * 3_600
  /// How far apart two attempts are, in seconds.
  static let retrySeconds: Int64 = 30

  nonisolated let issuer: TrustedIssuer
  private let documents: any IssuerDocuments
  private let now: @Sendable () -> Timestamp
  private var keys: IssuerKeySet?
  private var gotten: Timestamp?
  private var attempted: Timestamp?
  private var attempt: Task<Void, Never>?

  /// No keys yet.
  init(
    of issuer: TrustedIssuer, documents: any IssuerDocuments,
    now: @escaping @Sendable () -> Timestamp
  ) {
    self.issuer = issuer
    self.documents = documents
    self.now = now
  }

  /// The issuer's key of a name; nil when it has none.
  /// - Throws: `issuerUnavailable` when there are no keys to look in.
  func key(_ name: IDToken.KeyName) async throws(AccountError) -> IssuerKey? {
    if let key = held(notOlderThan: Self.freshSeconds)?[name] { return key }
    await ask()
    guard let keys = held(notOlderThan: Self.staleSeconds) else {
      throw .issuerUnavailable("no keys of \(issuer.url)")
    }
    return keys[name]
  }

  private func held(notOlderThan seconds: Int64) -> IssuerKeySet? {
    // A clock that was set back must not make keys younger than they are for longer than it was set back.
    let now = now()
    guard let moment = gotten.map({ min($0, now) }) else { return nil }
    gotten = moment
    return now < moment.adding(seconds: seconds) ? keys : nil
  }

  /// Joins the attempt under way, or begins one if it is time. It goes on when its first caller is cancelled, for
  /// those that have joined.
  private func ask() async {
    if let attempt { return await attempt.value }
    let now = now()
    if let last = attempted.map({ min($0, now) }) {
      attempted = last
      guard last.adding(seconds: Self.retrySeconds) <= now else { return }
    }
    attempted = now
    let task = Task { await get() }
    attempt = task
    await task.value
  }

  private func get() async {
    defer { attempt = nil }
    do throws(AccountError) {
      let url = if let known = issuer.keysURL { known } else { try await discoveredURL() }
      keys = try IssuerKeySet(try await documents.document(at: url, of: issuer))
      gotten = now()
    } catch {
      documents.failed(error, of: issuer)
    }
  }

  /// What the issuer's discovery document says; it must be that issuer's, byte for byte (OpenID Connect Discovery
  /// 1.0, section 4.3).
  private func discoveredURL() async throws(AccountError) -> String {
    let bytes = try await documents.document(at: issuer.discoveryURL, of: issuer)
    guard let root = try? ParsedJSON(bytes, limits: IssuerKeySet.limits).root,
      root["issuer"]?.stringEquals(issuer.url) ?? false, let url = root["jwks_uri"]?.string
    else { throw .issuerUnavailable("the discovery document is not this issuer's") }
    return url
  }
}

extension AccountError {
  /// The answer when the keys of a token's issuer can't be had.
  package static func issuerUnavailable(_ detail: String) -> AccountError {
    AccountError(
      .issuerUnavailable, "The token's issuer can't be reached to verify it.",
      retryAfterSeconds: Int(IssuerKeys.retrySeconds), detail: detail)
  }
}
