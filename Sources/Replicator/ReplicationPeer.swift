import AsyncHTTPClient
import Documents
import IPAddresses
import NIOCore
import NIOHTTP1
import NIOPosix
import Scheduling

/// A database at one end of a replication, reached by CouchDB's protocol: this server's own by a socket, others' by
/// their URLs.
struct ReplicationPeer: Sendable {
  /// How often a request is sent that gets no answer, or 408, 429 or 5xx, as in CouchDB (`retries_per_request`).
  static let attempts = 5
  /// The same for the requests to this peer.
  var attempts = Self.attempts
  /// The wait before the second attempt; each further one is twice as long. A random part is subtracted, up to the half.
  static let pause = Duration.milliseconds(250)
  /// How long a peer may take until an answer begins.
  private static let patience = TimeAmount.seconds(90)

  /// The name by which answers and logs call it.
  let name: String
  private let endpoint: ReplicationEndpoint
  private let base: String
  private let http: HTTPClient
  /// The tokens of those whose own store it may be.
  private let tokens: PersonTokens
  /// How slowly it may answer.
  let pace: PeerPace.Limits
  /// Whether a person has set the remote, who is told nothing of the network in which this server is.
  private let isPersons: Bool
  /// Makes the work that computes with its answers; nil for work that nobody pays for.
  private let work: @Sendable () -> Work?
  /// Counts a request to an address that is not permitted, and says which it is; nil for a permitted one, and for a name.
  private let refused: (@Sendable () -> AddressRefusal)?

  init(
    _ endpoint: ReplicationEndpoint, base: String, http: HTTPClient,
    tokens: PersonTokens, pace: PeerPace.Limits, isPersons: Bool,
    work: @escaping @Sendable () -> Work?, refused: (@Sendable () -> AddressRefusal)? = nil
  ) {
    self.refused = refused
    (self.tokens, self.pace, self.isPersons, self.work) = (tokens, pace, isPersons, work)
    name = endpoint.name
    (self.endpoint, self.base, self.http) = (endpoint, base, http)
  }

  /// Computes with an answer, on the account of the person whose remote it is. The step waits for nothing but its slices.
  func computing<Value>(_ step: () async throws -> Value) async throws -> Value {
    guard let work = self.work() else { return try await Slice.unpaid(step) }
    return try await Work.$current.withValue(work) {
      await work.begin()
      defer { work.finish() }
      return try await step()
    }
  }

  /// A request for a path below the database.
  /// - Parameter path: encoded; empty for the database itself.
  /// - Parameter query: pairs that are encoded here; those without a value are left out.
  func request(
    _ method: HTTPMethod, _ path: String, _ query: [(name: String, value: String?)] = [],
    body: [UInt8]? = nil
  ) -> HTTPClientRequest {
    let pairs = query.compactMap { name, value in
      value.map { PathSegment.encode(name) + "=" + PathSegment.encode($0) }
    }
    var request = HTTPClientRequest(
      url: base + path + (pairs.isEmpty ? "" : "?" + pairs.joined(separator: "&")))
    request.method = method
    request.headers = ["user-agent": "hotel-bookmarks", "accept": "application/json"]
    if !endpoint.isRemote { request.headers.add(name: "host", value: "localhost") }
    for field in endpoint.fields { request.headers.add(name: field.name, value: field.value) }
    if let value = endpoint.authorization {
      request.headers.add(name: "authorization", value: value)
    }
    if let body {
      request.headers.add(name: "content-type", value: "application/json")
      request.body = .bytes(ByteBuffer(bytes: body))
    }
    return request
  }

  /// Sends a request, again after failures that may pass, and reads the answer.
  /// - Parameter limit: how many bytes of the answer are read.
  /// - Throws: ``ReplicationFailure``; ``TooLongAnswer``; `CancellationError`.
  func send(
    _ method: HTTPMethod, _ path: String = "", _ query: [(name: String, value: String?)] = [],
    body: [UInt8]? = nil, upTo limit: Int = PeerAnswer.maximumBytes,
    attempts: Int? = nil
  ) async throws -> PeerAnswer {
    var pause = Self.pause
    for attempt in 1... {
      let isLast = attempt >= attempts ?? self.attempts
      do {
        let response = try await begin(request(method, path, query, body: body))
        let bytes = try await response.collected(upTo: limit, from: name, within: pace)
        let answer = PeerAnswer(status: Int(response.status.code), body: bytes)
        guard answer.status != 507 else { throw full }
        guard Self.mayPass(answer.status) else { return answer }
        if isLast { throw ReplicationFailure.unreachable(name, await answer.described()) }
      } catch let error as HTTPClientError where error == .cancelled {
        throw CancellationError()
      } catch let error where !(error is TooLongAnswer) && !(error is CancellationError) {
        if isLast || error is AddressRefusal || error is ReplicationFailure { throw failure(error) }
      }
      try await Task.sleep(for: pause / 2 + pause * Double.random(in: 0...0.5))
      pause *= 2
    }
    throw CancellationError()
  }

  /// Sends a request once.
  /// - Parameter patience: how long the peer may take until its answer begins.
  /// - Returns: the answer, whose body is not read yet.
  /// - Throws: the client's errors; ``AddressRefusal``; ``ReplicationFailure`` for a redirect.
  func begin(
    _ request: HTTPClientRequest, within patience: TimeAmount = ReplicationPeer.patience
  ) async throws -> HTTPClientResponse {
    if let refused { throw refused() }
    var request = request
    if case .own(let person) = endpoint.place {
      request.headers.replaceOrAdd(
        name: "authorization", value: "Bearer " + (try await tokens.token(of: person)))
    }
    let response = try await http.execute(request, deadline: .now() + patience)
    if response.status.code == 401, case .own(let person) = endpoint.place { tokens.forget(person) }
    guard !(300..<400).contains(response.status.code) else {
      throw ReplicationFailure.badAnswer(name, "it redirects, which is not followed")
    }
    return response
  }

  /// Whether a later attempt may succeed. 501 is for what a server does not offer.
  static func mayPass(_ status: Int) -> Bool {
    status == 408 || status == 429 || status >= 500 && status != 501
  }

  /// How often it is asked whether it is there. A person's remote is begun again after a pause.
  var attemptsToOpen: Int { isPersons ? 1 : attempts }

  /// The failure of a write for which the peer has no room.
  var full: ReplicationFailure {
    let reason = "\(name) has no room to store more"
    guard case .own = endpoint.place else { return ReplicationFailure("target_full", reason) }
    return ReplicationFailure("own_store_full", reason)
  }

  /// An error of the HTTP client in words.
  func failure(_ error: any Error) -> any Error {
    switch error {
    case is ReplicationFailure, is CancellationError, is TooLongAnswer: error
    case let error as HTTPClientError where error == .cancelled: CancellationError()
    case _ where isPersons: ReplicationFailure.unreachable(name, "it can't be reached")
    case let refusal as AddressRefusal:
      ReplicationFailure(
        "forbidden", "\(name) leads to address \(refusal.address), which is not allowed")
    case let error as NIOConnectionError where error.connectionErrors.isEmpty:
      ReplicationFailure("nxdomain", "could not resolve \(name)")
    default: ReplicationFailure.unreachable(name, Self.words(error))
    }
  }

  /// An error without the places in source files that the errors of TLS name: ` at /…`.
  private static func words(_ error: any Error) -> String {
    let text = String(describing: error)
    let parts = text.split(separator: " at /", omittingEmptySubsequences: false)
    return parts.enumerated().map { index, part in
      index == 0 ? part : part.drop { !",])".contains($0) }
    }.joined()
  }
}
