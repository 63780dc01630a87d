import HTTPTypes

extension HTTPField.Name {
  /// `Cache-Status` (RFC 9211).
  static let cacheStatus = named("Cache-Status")
  /// `X-Couch-Request-ID`: names an answer.
  static let couchRequestID = named("X-Couch-Request-ID")
  /// `Destination` (RFC 4918, section 10.3).
  static let destination = named("Destination")
  /// `Host`, where HTTP/2 has no `:authority`.
  static let hostField = named("Host")
  /// `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header).
  static let idempotencyKey = named("Idempotency-Key")
  /// `Last-Event-ID`: where an event source that connects again stopped (HTML standard, section 9.2.4).
  static let lastEventID = named("Last-Event-ID")
  /// `Link` (RFC 8288).
  static let link = named("Link")
  /// `X-HTTP-Method-Override`: the method that a `POST` stands for.
  static let methodOverride = named("X-HTTP-Method-Override")
  /// `Prefer` (RFC 7240).
  static let prefer = named("Prefer")
  /// `Preference-Applied` (RFC 7240, section 3).
  static let preferenceApplied = named("Preference-Applied")
  /// `Renewed-Token`: a new token for a guest or user whose own has used up a good part of its time.
  static let renewedToken = named("Renewed-Token")
  /// `Referrer-Policy`: what other servers are told of where a request comes from (W3C Referrer Policy, section 4.1).
  static let referrerPolicy = named("Referrer-Policy")
  /// `Server-Timing`: what a request cost, where that is shown.
  static let serverTiming = named("Server-Timing")
  /// `X-Forwarded-For`: whom a proxy was called by.
  static let xForwardedFor = named("X-Forwarded-For")
  /// `X-Request-Id`: names a failed request in the log.
  static let xRequestID = named("X-Request-Id")

  private static func named(_ name: StaticString) -> HTTPField.Name {
    guard let name = HTTPField.Name("\(name)") else {
      preconditionFailure("no name of a field: \(name)")
    }
    return name
  }
}

extension HTTPRequest.Method {
  /// `COPY`, which CouchDB took over from WebDAV (RFC 4918, section 9.8).
  static let copy: HTTPRequest.Method = {
    guard let method = HTTPRequest.Method("COPY") else { preconditionFailure("no method") }
    return method
  }()
}
