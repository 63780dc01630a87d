import HTTPTypes

extension HTTPField.Name {
  /// `X-Accel-Buffering`: `no` tells nginx, and proxies that follow it, to pass each part of an answer on at once.
  static let accelBuffering = named("X-Accel-Buffering")
  /// `Content-MD5` (RFC 1864), which CouchDB's clients send with attachments.
  static let contentMD5 = named("Content-MD5")
  /// `Cache-Status` (RFC 9211).
  static let cacheStatus = named("Cache-Status")
  /// `X-CouchDB-Body-Time`: how many milliseconds the request's body took to arrive (CouchDB, "API basics").
  static let couchBodyTime = named("X-CouchDB-Body-Time")
  /// `X-Couch-Request-ID`: identifies an answer.
  static let couchRequestID = named("X-Couch-Request-ID")
  /// `Pragma`: forbids caches of HTTP/1.0 to keep an answer (RFC 9111, section 5.4).
  static let pragma = named("Pragma")
  /// `Device-Name`: how the person calls the device that syncs.
  static let deviceName = named("Device-Name")
  /// `Destination` (RFC 4918, section 10.3).
  static let destination = named("Destination")
  /// `Host`, for HTTP/2 requests without `:authority`.
  static let hostField = named("Host")
  /// `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header).
  static let idempotencyKey = named("Idempotency-Key")
  /// `Last-Event-ID`: the last event that a reconnecting event source has received (HTML standard, section 9.2.4).
  static let lastEventID = named("Last-Event-ID")
  /// `X-HTTP-Method-Override`: the method that a `POST` means.
  static let methodOverride = named("X-HTTP-Method-Override")
  /// `Prefer` (RFC 7240).
  static let prefer = named("Prefer")
  /// `Preference-Applied` (RFC 7240, section 3).
  static let preferenceApplied = named("Preference-Applied")
  /// `Renewed-Token`: a new token for a guest or user whose token has used up a good part of its time.
  static let renewedToken = named("Renewed-Token")
  /// `Referrer-Policy`: how much of a page's URL browsers tell other servers (W3C Referrer Policy, section 4.1).
  static let referrerPolicy = named("Referrer-Policy")
  /// `Server-Timing`: the cost of a request, if the server shows it.
  static let serverTiming = named("Server-Timing")
  /// `X-Forwarded-For`: the addresses that called each proxy.
  static let xForwardedFor = named("X-Forwarded-For")
  /// `X-Forwarded-Host` and `X-Forwarded-Proto`: the host and the scheme by which a client has called a proxy.
  static let xForwardedHost = named("X-Forwarded-Host")
  static let xForwardedProto = named("X-Forwarded-Proto")
  /// `X-Robots-Tag`: `noindex` tells search engines not to keep an answer.
  static let xRobotsTag = named("X-Robots-Tag")
  /// `X-Request-Id`: identifies a failed request in the log.
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
