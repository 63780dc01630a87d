import AsyncHTTPClient
package import Hotels
package import IPAddresses
import NIOCore
import NIOHTTP1
import NIOSSL
import Scheduling

/// The HTTP client for upstreams, with protection against untrusted servers: it follows no redirect, stores no
/// cookie, sends no header of a person, and limits the time and the size of every answer.
///
/// It owns its connections; shut it down when the service stops. Each upstream has its own client, because the
/// permitted addresses differ between upstreams.
package struct UpstreamClient: Sendable {
  /// The largest answer, in bytes: 2 MiB, about twenty times a full page of hotels.
  package static let defaultMaximumAnswerBytes = 2 * 1024 * 1024
  /// The most connections to one upstream. Further requests wait within their deadline.
  package static let maximumConnections = 64
  /// How long an unused connection is kept, in seconds. Common servers close one after 75 s to 5 min, so a request
  /// seldom meets a connection that is being closed.
  package static let idleSeconds: Int64 = 15
  /// The client's `User-Agent` (RFC 9110 section 10.1.5).
  package static let userAgent = "hotel-bookmarks"

  package let timeouts: UpstreamTimeouts
  package let maximumAnswerBytes: Int
  let http: HTTPClient

  /// Makes a client with its own connections.
  /// - Parameter addresses: the permitted addresses; nil for any.
  /// - Parameter trust: the accepted certificate authorities.
  /// - Parameter upstream: the upstream's name in metrics.
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
      // A few kilobytes of gzip can expand to gigabytes. Upstreams are near, so no compression is requested.
      decompression: .disabled)
    configuration.httpVersion = .http1Only
    configuration.connectionPool = .init(
      idleTimeout: .seconds(Self.idleSeconds),
      concurrentHTTP1ConnectionsPerHostSoftLimit: Self.maximumConnections)
    // A refused connection is reported at once. The callers have a budget for second attempts.
    configuration.connectionPool.retryConnectionEstablishment = false
    if let addresses {
      // The HTTP client calls this for each new connection and sends nothing before it has completed.
      let meter = UpstreamMeter(upstream: upstream)
      configuration.http1_1ConnectionDebugInitializer = { channel in
        guard !addresses.allows(channel.remoteAddress?.ipAddress) else {
          return channel.eventLoop.makeSucceededVoidFuture()
        }
        meter.countBlocked()
        // When this fails, the HTTP client forgets the connection but does not close it. Closing it before the
        // client has forgotten it would report a connection that the client does not know.
        channel.eventLoop.execute { channel.close(promise: nil) }
        return channel.eventLoop.makeFailedFuture(
          AddressRefusal(address: channel.remoteAddress?.ipAddress ?? "of another kind"))
      }
    }
    http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
  }

  /// Closes all connections. Running requests fail. The client can't be used afterwards.
  package func shutdown() async {
    // It throws only when the client is shut down already.
    try? await http.shutdown()
  }

  /// Fetches one JSON document with a client of its own, which is not reused. For documents that are needed every
  /// few minutes at most.
  /// - Parameter url: a URL that ``UpstreamURL`` has checked, perhaps with a query.
  /// - Parameter addresses: the permitted addresses.
  /// - Parameter timeouts: the time limits, to the last byte.
  /// - Parameter name: the server's name in metrics.
  /// - Throws: ``SearchError``; `badAnswer` for any answer but 200 with JSON, also for a redirect.
  package static func document(
    at url: String, addresses: AddressRule, timeouts: UpstreamTimeouts, maximumBytes: Int,
    name: String
  ) async throws(SearchError) -> [UInt8] {
    let client = UpstreamClient(
      timeouts: timeouts, maximumAnswerBytes: maximumBytes, addresses: addresses, upstream: name)
    let (meter, started) = (UpstreamMeter(upstream: name), ContinuousClock.now)
    let outcome: Result<[UInt8], SearchError>
    do throws(SearchError) {
      let answer = try await Deadline.within(timeouts.total) { () throws(SearchError) in
        try await client.get(url)
      }
      guard answer.status == 200, answer.mayBeJSON else {
        throw .badAnswer("status \(answer.status), of type \(answer.mediaType ?? "none")")
      }
      outcome = .success(answer.body)
      meter.count(.ok, started: started)
    } catch {
      outcome = .failure(error)
      meter.count(UpstreamMeter.Outcome(error), started: started)
    }
    await client.shutdown()
    return try outcome.get()
  }

  /// Requests a URL and reads the answer, whatever its status. A redirect is an answer too.
  /// - Throws: ``SearchError``: `unavailable` when no server answers; `timeout`; `badAnswer` for an answer that is not
  ///   HTTP, is incomplete or too large.
  func get(_ url: String) async throws(SearchError) -> UpstreamAnswer {
    try await answer(to: Self.request(url))
  }

  /// Sends JSON to a URL and reads the answer; see ``get(_:)``.
  /// - Parameter authorization: the upstream's own credentials, from the configuration; nil for none.
  func post(
    _ json: [UInt8], to url: String, authorization: String?
  ) async throws(SearchError) -> UpstreamAnswer {
    var request = Self.request(url)
    request.method = .POST
    request.headers.add(name: "content-type", value: "application/json")
    if let authorization { request.headers.add(name: "authorization", value: authorization) }
    request.body = .bytes(ByteBuffer(bytes: json))
    return try await answer(to: request)
  }

  /// Whether an upstream answers a URL at all, within ``UpstreamTimeouts/firstByte``: nil, or why not. The content is not
  /// read.
  func readiness(of url: String) async -> SearchError? {
    do throws(SearchError) {
      let status = try await Deadline.within(timeouts.firstByte) { () throws(SearchError) in
        Int(try await self.head(of: Self.request(url)).status.code)
      }
      return UpstreamAnswer.meansUnavailable(status) ? .unavailable("status \(status)") : nil
    } catch { return error }
  }

  /// A request without any data of the person who searches.
  private static func request(_ url: String) -> HTTPClientRequest {
    var request = HTTPClientRequest(url: url)
    request.headers = [
      "user-agent": userAgent, "accept": "application/json", "accept-encoding": "identity",
    ]
    return request
  }

  private func answer(to request: HTTPClientRequest) async throws(SearchError) -> UpstreamAnswer {
    let response = try await head(of: request)
    let status = Int(response.status.code)
    return UpstreamAnswer(
      status: status,
      mediaType: response.headers.first(name: "content-type").map(Self.mediaType),
      location: response.headers.first(name: "location"),
      namesRetryTime: response.headers.contains(name: "retry-after"),
      // Unread content makes the HTTP client close the connection, so an error page of any length needs no memory.
      body: (200..<300).contains(status)
        ? try await Work.waiting({ () async throws(SearchError) in
          try await content(of: response)
        }) : [])
  }

  private func head(of request: HTTPClientRequest) async throws(SearchError) -> HTTPClientResponse {
    do {
      return try await Work.waiting({
        try await http.execute(request, deadline: .now() + TimeAmount(timeouts.firstByte))
      })
    } catch { throw .beforeHead(error) }
  }

  private func content(of response: HTTPClientResponse) async throws(SearchError) -> [UInt8] {
    let codings = response.headers[canonicalForm: "content-encoding"]
    guard codings.allSatisfy({ $0.lowercased().utf8.elementsEqual("identity".utf8) }) else {
      throw .badAnswer("the answer is compressed, which was not asked for")
    }
    if let length = response.headers.first(name: "content-length").flatMap(Int.init),
      length > maximumAnswerBytes
    {
      throw .badAnswer("answer of \(length) bytes is too large")
    }
    var bytes: [UInt8] = []
    do {
      for try await chunk in response.body {
        guard chunk.readableBytes <= maximumAnswerBytes - bytes.count else {
          throw SearchError.badAnswer("answer is longer than \(maximumAnswerBytes) bytes")
        }
        bytes.append(contentsOf: chunk.readableBytesView)
      }
    } catch let error as SearchError {
      throw error
    } catch { throw .afterHead(error) }
    return bytes
  }

  private static func mediaType(_ header: String) -> String {
    let type = header.utf8.prefix { $0 != UInt8(ascii: ";") }.filter { $0 > 0x20 }
    return String(decoding: type, as: UTF8.self).lowercased()
  }
}

/// The certificate authorities for upstreams over TLS: those that the system trusts, and optionally the operator's
/// own. All other checks of a certificate are the same for both.
package struct UpstreamTrust: Sendable {
  /// The TLS configuration of new connections.
  let configuration: TLSConfiguration

  /// The system's authorities only.
  package init() { configuration = .makeClientConfiguration() }

  /// The system's authorities and those of a PEM file.
  /// - Throws: the TLS library's error for a file that can't be read or contains no certificate.
  package init(file: String) throws {
    let certificates = try NIOSSLCertificate.fromPEMFile(file)
    guard !certificates.isEmpty else { throw NIOSSLError.failedToLoadCertificate }
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.additionalTrustRoots = [.certificates(certificates)]
    self.configuration = configuration
  }
}
