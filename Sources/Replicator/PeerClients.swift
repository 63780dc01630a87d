import AsyncHTTPClient
import Documents
package import IPAddresses
import Metrics
import NIOCore
package import Scheduling
package import Stores
import Synchronization

/// The HTTP clients of replications: one for this server's own databases, by a socket, and one for other servers. They
/// follow no redirect and store no cookie, and the second one connects only to permitted addresses.
package struct PeerClients: Sendable {
  /// The most connections to one server. Further requests wait.
  private static let connections = ReplicationJobs.connections
  /// How long an unused connection is kept: 15 s, less than common servers keep it.
  private static let idle = TimeAmount.seconds(15)
  /// How long a peer may take to accept a connection, and to send or take the next bytes.
  private static let connect = TimeAmount.seconds(30)
  static let silence = TimeAmount.seconds(60)
  /// The most bytes of another server that are handled at once: 16 KiB, which may be thousands of chunks.
  private static let readBytes = 16 << 10

  /// Makes a token with which a person's own store can be reached for a while.
  package typealias TokenMaker =
    @Sendable (_ person: ReplicationEndpoint.Person) async throws -> String

  /// Makes work that is charged to a person; nil for work that nobody pays for.
  package typealias WorkMaker = @Sendable (_ person: AccountID) -> Work?

  private let addresses: AddressRule
  private let tokens: PersonTokens
  private let work: WorkMaker
  /// Counts the refused addresses.
  private let blocked = Counter(
    label: "ssrf_blocked_total", dimensions: [("upstream", "replication")])
  private let remote: HTTPClient
  private let local: HTTPClient
  /// The URL below which this server's databases are.
  private let localBase: String

  /// Makes clients with connections of their own; shut them down when the service stops.
  /// - Parameter socket: the path of the socket at which this server answers replications.
  /// - Parameter addresses: the addresses that other servers may have.
  /// - Parameter work: makes the work of people's remotes.
  package init(
    socket: String, addresses: AddressRule, token: @escaping TokenMaker,
    work: @escaping WorkMaker = { _ in nil }
  ) {
    (self.addresses, tokens, self.work) = (addresses, PersonTokens(token), work)
    localBase = "http+unix://\(PathSegment.encode(socket))/couch/"
    local = HTTPClient(eventLoopGroupProvider: .singleton, configuration: Self.configuration())
    var configuration = Self.configuration()
    // The HTTP client calls this for each new connection, after the handshake of TLS if there is one, and sends nothing
    // of a request before it has completed.
    configuration.http1_1ConnectionDebugInitializer = { [blocked] channel in
      guard !addresses.allows(channel.remoteAddress?.ipAddress) else {
        return channel.setOption(.maxMessagesPerRead, value: 1).flatMap {
          channel.setOption(
            .recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: Self.readBytes))
        }
      }
      blocked.increment()
      // The HTTP client forgets a connection that fails here, but does not close it.
      channel.eventLoop.execute { channel.close(promise: nil) }
      return channel.eventLoop.makeFailedFuture(
        AddressRefusal(address: channel.remoteAddress?.ipAddress ?? "of another kind"))
    }
    remote = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
  }

  private static func configuration() -> HTTPClient.Configuration {
    var configuration = HTTPClient.Configuration(
      redirectConfiguration: .disallow,
      timeout: .init(connect: connect, read: silence, write: silence),
      // A few kilobytes of gzip can expand to gigabytes.
      decompression: .disabled)
    configuration.httpVersion = .http1Only
    configuration.connectionPool = .init(
      idleTimeout: idle, concurrentHTTP1ConnectionsPerHostSoftLimit: connections)
    configuration.connectionPool.retryConnectionEstablishment = false
    return configuration
  }

  /// - Parameter person: whose remote it is an end of; nil for the administrator's replications.
  func peer(_ endpoint: ReplicationEndpoint, of person: AccountID? = nil) -> ReplicationPeer {
    let personsWork: @Sendable () -> Work? = { [work] in person.flatMap { work($0) } }
    switch endpoint.place {
    case .local, .own:
      return ReplicationPeer(
        endpoint, base: localBase + PathSegment.encode(endpoint.name) + "/", http: local,
        tokens: tokens, pace: .administrators, isPersons: person != nil, work: personsWork)
    case .remote(let url):
      var refused: (@Sendable () -> AddressRefusal)?
      if let refusal = refusal(of: url) {
        refused = { [blocked] in
          blocked.increment()
          return refusal
        }
      }
      return ReplicationPeer(
        endpoint, base: url.base, http: remote, tokens: tokens,
        pace: person == nil ? .administrators : .people, isPersons: person != nil,
        work: personsWork, refused: refused)
    }
  }

  /// Why nothing is connected to the host of a URL; nil for a permitted address, and for a name.
  private func refusal(of url: RemoteURL) -> AddressRefusal? {
    let host = url.host.hasPrefix("[") ? String(url.host.dropFirst().dropLast()) : url.host
    return IPAddress(host) == nil || addresses.allows(host) ? nil : AddressRefusal(address: host)
  }

  /// Whether an end may be another server, as far as its URL tells: false for an address that is not permitted.
  func allows(_ endpoint: ReplicationEndpoint) -> Bool {
    guard case .remote(let url) = endpoint.place else { return false }
    return refusal(of: url) == nil
  }

  /// Closes all connections. Running requests fail.
  package func shutdown() async {
    // They throw only when they are shut down already.
    try? await remote.shutdown()
    try? await local.shutdown()
  }
}

/// The tokens with which replications reach people's own stores. Each is used for a minute, so that an account that is
/// gone, and a new epoch of one, are noticed soon.
final class PersonTokens: Sendable {
  private static let age = Duration.seconds(60)

  private let make: PeerClients.TokenMaker
  private let known = Mutex<[AccountID: (token: String, until: ContinuousClock.Instant)]>([:])

  init(_ make: @escaping PeerClients.TokenMaker) { self.make = make }

  /// - Throws: the errors of the account's store; also for an account that is gone.
  func token(of person: ReplicationEndpoint.Person) async throws -> String {
    let now = ContinuousClock.now
    if let found = known.withLock({ $0[person.id] }), found.until > now { return found.token }
    let token = try await make(person)
    known.withLock { known in
      known = known.filter { $0.value.until > now }
      known[person.id] = (token, now + Self.age)
    }
    return token
  }

  /// Forgets a token that was refused: a new password ends it.
  func forget(_ person: ReplicationEndpoint.Person) { known.withLock { $0[person.id] = nil } }
}
