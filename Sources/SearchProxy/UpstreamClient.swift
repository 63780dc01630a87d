import AsyncHTTPClient
import NIOCore

/// The one HTTP client for upstreams, with what makes it safe to point at a stranger: it follows no
/// redirect, keeps no cookie, sends none of a person's headers, and bounds the time and the size of
/// every answer.
///
/// It owns its connections: shut it down when the service stops. Each upstream has its own, because the
/// addresses that it may lead to are the upstream's.
package struct UpstreamClient: Sendable {
  /// The longest answer, in bytes: 2 MiB, some twenty times a full page of
  /// hotels.
  package static let defaultMaximumAnswerBytes = 2 * 1024 * 1024
  /// Connections to one upstream at once; further requests wait, within their deadline.
  package static let maximumConnections = 64
  /// How long an unused connection is kept, in seconds: less than the 75 s to 5 min of common
  /// servers, so that a request seldom meets a connection that is being closed.
  package static let idleSeconds: Int64 = 15
  /// What the client calls itself (RFC 9110 section 10.1.5).
  package static let userAgent = "hotel-bookmarks"

  /// How long an upstream may take.
  package let timeouts: UpstreamTimeouts
  /// The longest answer, in bytes.
  package let maximumAnswerBytes: Int
  /// The connections.
  let http: HTTPClient

  /// A client with its own connections.
  /// - Parameter addresses: where connections may lead; nil for anywhere.
  /// - Parameter trust: whose certificates it may show.
  /// - Parameter upstream: what metrics call the upstream.
  package init(
    timeouts: UpstreamTimeouts = UpstreamTimeouts(),
    maximumAnswerBytes: Int = UpstreamClient.defaultMaximumAnswerBytes,
    addresses: AddressRule? = nil, trust: UpstreamTrust = UpstreamTrust(),
    upstream: String = "upstream"
  ) {
    self.timeouts = timeouts
    self.maximumAnswerBytes = maximumAnswerBytes
    var configuration = HTTPClient.Configuration(
      tlsConfiguration: trust.configuration,
      // The default follows redirects to any host; see ``UpstreamOrigin``.
      redirectConfiguration: .disallow,
      timeout: .init(connect: TimeAmount(timeouts.connect)),
      // A few kilobytes of gzip can be gigabytes; an upstream is near, so nothing is asked
      // compressed.
      decompression: .disabled)
    configuration.httpVersion = .http1Only
    configuration.connectionPool = .init(
      idleTimeout: .seconds(Self.idleSeconds),
      concurrentHTTP1ConnectionsPerHostSoftLimit: Self.maximumConnections)
    // A refused connection is news at once; trying again is for those who keep a budget for it.
    configuration.connectionPool.retryConnectionEstablishment = false
    if let addresses {
      // The client calls this for each connection once it stands, and sends nothing before it is done.
      let meter = UpstreamMeter(upstream: upstream)
      configuration.http1_1ConnectionDebugInitializer = { channel in
        guard !addresses.allows(channel.remoteAddress?.ipAddress) else {
          return channel.eventLoop.makeSucceededVoidFuture()
        }
        meter.countBlocked()
        // The client forgets a connection that fails here, but does not close it; closing it before the client
        // has forgotten it would be the news of a connection that it does not know.
        channel.eventLoop.execute { channel.close(promise: nil) }
        return channel.eventLoop.makeFailedFuture(
          AddressRefusal(address: channel.remoteAddress?.ipAddress ?? "of another kind"))
      }
    }
    http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
  }

  /// Closes all connections; requests that run fail. Nothing may be asked afterwards.
  package func shutdown() async {
    // It throws only when the client is shut down already, which is what is wanted.
    try? await http.shutdown()
  }
}
