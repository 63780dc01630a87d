import AsyncHTTPClient
package import Hotels
import NIOCore
import NIOHTTP1
import NIOSSL

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

extension UpstreamClient {
  /// Gets one JSON document with a client of its own, which is not used again: for what is asked for every few
  /// minutes at most.
  /// - Parameter url: checked by ``UpstreamURL``, perhaps with a query.
  /// - Parameter addresses: where the connection may lead.
  /// - Parameter timeouts: how long it may take, to the last byte.
  /// - Parameter name: what metrics call the place.
  /// - Throws: ``SearchError``; `badAnswer` for any answer but 200 with JSON, a redirect too.
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
}

extension UpstreamClient {
  /// Asks for a URL and reads the answer, whatever its status; redirects are answers too.
  /// - Throws: ``SearchError``; `unavailable` when nobody answers, `timeout`, `badAnswer` for one
  ///   that is no HTTP, breaks off or is too large.
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

  /// Asks for a URL and gives the status; the content is not read.
  /// - Throws: as ``get(_:)``.
  func status(of url: String) async throws(SearchError) -> Int {
    Int(try await head(of: Self.request(url)).status.code)
  }

  /// A request that carries nothing of the person who searches.
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
      // Content that nobody reads makes the client close the connection: an error page of any
      // length costs no memory.
      body: (200..<300).contains(status) ? try await content(of: response) : [])
  }

  private func head(
    of request: HTTPClientRequest
  ) async throws(SearchError) -> HTTPClientResponse {
    do {
      return try await http.execute(
        request, deadline: .now() + TimeAmount(timeouts.firstByte))
    } catch {
      throw .beforeHead(error)
    }
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
    } catch {
      throw .afterHead(error)
    }
    return bytes
  }

  private static func mediaType(_ header: String) -> String {
    let type = header.utf8.prefix { $0 != UInt8(ascii: ";") }.filter { $0 > 0x20 }
    return String(decoding: type, as: UTF8.self).lowercased()
  }
}

/// How long an upstream may take; each counts from the start of what it bounds.
package struct UpstreamTimeouts: Sendable, Hashable {
  /// Making a connection, name look-up and TLS included: 300 ms, a few round trips across a
  /// continent.
  package var connect: Duration
  /// From the start of a request, ``connect`` included, to the head of its answer: 800 ms, so that
  /// a second request still fits under ``total``.
  package var firstByte: Duration
  /// A whole search, redirects and second attempts included, to the last byte: 2 s, about as long
  /// as a person waits for a list; also what ends an answer that only drips.
  package var total: Duration

  /// Timeouts.
  package init(
    connect: Duration = .milliseconds(300), firstByte: Duration = .milliseconds(800),
    total: Duration = .seconds(2)
  ) {
    self.connect = connect
    self.firstByte = firstByte
    self.total = total
  }
}

/// Whose certificates upstreams over TLS may show: those of the authorities that the system trusts, and those of an
/// operator's own. What a certificate has to be besides is the same for both.
package struct UpstreamTrust: Sendable {
  /// How a connection begins.
  let configuration: TLSConfiguration

  /// The system's authorities alone.
  package init() { configuration = .makeClientConfiguration() }

  /// And the authorities of a PEM file.
  /// - Throws: what TLS says about a file that can't be read or holds no certificate.
  package init(file: String) throws {
    let certificates = try NIOSSLCertificate.fromPEMFile(file)
    guard !certificates.isEmpty else { throw NIOSSLError.failedToLoadCertificate }
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.additionalTrustRoots = [.certificates(certificates)]
    self.configuration = configuration
  }
}

/// What an upstream answered, read whole and within its bounds.
struct UpstreamAnswer: Sendable {
  /// The status code.
  let status: Int
  /// The media type of `Content-Type` in lower case, without parameters; nil if the header is
  /// absent.
  let mediaType: String?
  /// Where a redirect points; nil if the header is absent.
  let location: String?
  /// Whether the answer has `Retry-After`.
  var namesRetryTime = false
  /// The content of a 2xx answer; empty for any other status, whose content nobody
  /// needs.
  let body: [UInt8]

  /// Whether the content claims to be JSON, or claims nothing: `application/json` or `+json`
  /// (RFC 6839 section 3.1).
  var mayBeJSON: Bool {
    guard let mediaType else { return true }
    return mediaType.utf8.elementsEqual("application/json".utf8)
      || mediaType.utf8.suffix(5).elementsEqual("+json".utf8)
  }

  /// Whether the upstream says that it can't answer now: overload, or a gateway without its server.
  var meansUnavailable: Bool {
    [429, 502, 503, 504].contains(status)
  }

  /// Whether a second attempt makes sense: a gateway spoke (502, 503, 504) and did not say when to come back.
  var mayBeAskedAgain: Bool {
    [502, 503, 504].contains(status) && !namesRetryTime
  }

  /// Whether this redirect keeps a GET as it is or makes one (RFC 9110 section 15.4).
  var isRedirect: Bool {
    [301, 302, 307, 308].contains(status)
  }
}
