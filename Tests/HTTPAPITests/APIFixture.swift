import Accounts
import Catalogue
import Documents
import HTTPServer
import HTTPTypes
import Hotels
import Hummingbird
import HummingbirdTesting
import Lists
import Logging
import NIOCore
import StoreTesting
import Stores
import TestSupport
import Testing

@testable import HTTPAPI

/// A service over stores in memory, called through its router. Every response is checked against the contract.
struct APIFixture: Sendable {
  /// The engine of the stores.
  let engine: MemoryEngine
  /// The service's clock.
  let clock: TestClock
  /// The service's upstream.
  let search: ScriptedSearch
  let service: HTTPService
  private let contract: Contract
  private let client: any TestClientProtocol

  /// The response to the page's URLs.
  static let shell = "<!doctype html>" + String(repeating: "<p>a page</p>", count: 50)

  /// The page's files.
  static let page = WebPage([
    ("index.html", Array(shell.utf8)), ("a.js", Array("import './offline/b.js'\n".utf8)),
    ("bundle.js", Array("export {}\n".utf8)),
    ("offline/b.js", Array("export {}\n".utf8)), ("worker.js", Array("// works\n".utf8)),
    ("shared.html", Array("<p>a link</p>".utf8)),
    ("docs.html", Array("<script src=\"/page/docs.js\"></script>".utf8)),
    ("app.webmanifest", Array(#"{"lang":"en"}"#.utf8)), ("places.txt", Array("e|\n".utf8)),
    ("app-de.webmanifest", Array(#"{"lang":"de"}"#.utf8)),
    ("docs.js", Array("export {}\n".utf8)), ("offline.d.ts", Array("export {}\n".utf8)),
  ])

  /// The served contract: a short one, with an operation for apps and one for others.
  static let contract = """
    openapi: 3.1.0
    tags:
      - {name: hotels, x-part: app}
      - {name: couch}
    paths:
      /a:
        get:
          tags: [hotels]
      /b:
        get:
          tags: [couch]

    """

  /// A valid password for tests that need any password.
  static let password = "correct:horse"

  /// Opens a service for a test.
  /// - Parameter origins: other origins whose pages may call the service.
  /// - Parameter follower: the rule that runs after commits.
  /// - Parameter pause: waits between two attempts at an accepted write.
  /// - Parameter bodyFiles: the files of long bodies.
  static func open(
    origins: [String] = [], publicURL: String? = nil, bodyFiles: BodyFiles = BodyFiles(in: "/tmp"),
    settings change: (inout AccountSettings) -> Void = { _ in },
    follower: CommitFollower? = nil,
    pause: @escaping @Sendable (Duration) async -> Void = { _ in },
    _ test: @Sendable (APIFixture) async throws -> Void
  ) async throws {
    let (engine, clock, search) = (MemoryEngine(), TestClock(), ScriptedSearch())
    let contract = try Contract.shared.get()
    var settings = AccountSettings()
    settings.scrypt = try #require(ScryptParameters(rounds: 2, blockSize: 1, parallelism: 1))
    change(&settings)
    let service = try await service(
      engine, clock, search, settings, origins: origins, publicURL: publicURL,
      bodyFiles: bodyFiles, follower: follower, pause: pause)
    let application = Application(responder: PieceByPiece(router: service.router()), logger: quiet)
    try await application.test(.router) { client in
      try await test(
        APIFixture(
          engine: engine, clock: clock, search: search, service: service, contract: contract,
          client: client))
    }
    await service.stores.close()
  }

  /// The stores of the service.
  var stores: DatabaseManager { service.stores }

  /// The writes that were accepted and are not carried out yet.
  var pendingWrites: PendingWrites { service.pendingWrites }

  /// The files of long bodies.
  var bodyFiles: BodyFiles { service.bodyFiles }

  /// The jobs that the administrator has started.
  var jobs: AdministrationJobs { service.administration.jobs }

  /// The router of all requests.
  var router: RequestRouter { service.router() }

  /// A logger that does not report the errors that tests cause on purpose.
  static let quiet: Logger = {
    var quiet = Logger(label: "api")
    quiet.logLevel = .critical
    return quiet
  }()

  /// A service for tests that read its routes and do not call them.
  static func service() async throws -> HTTPService {
    try await service(
      MemoryEngine(), TestClock(), ScriptedSearch(), AccountSettings(), origins: [], publicURL: nil)
  }

  private static func service(
    _ engine: MemoryEngine, _ clock: TestClock, _ search: ScriptedSearch,
    _ settings: AccountSettings, origins: [String], publicURL: String?,
    bodyFiles: BodyFiles = BodyFiles(in: "/tmp"), follower: CommitFollower? = nil,
    pause: @escaping @Sendable (Duration) async -> Void = { _ in }
  ) async throws -> HTTPService {
    let stores = DatabaseManager(
      engine: engine, maximumOpen: 8, now: { clock.now },
      follower: follower ?? BookmarkMerge.follower(now: { clock.now }))
    let cases = UseCases(
      over: stores, keys: try SigningKeys.temporary(now: clock.now), settings: settings,
      now: { clock.now }, uptime: { clock.uptime }, hashing: { work in work() })
    let description = APIDescription(
      yaml: Array(contract.utf8), json: Array(#"{"openapi":"3.1.0"}"#.utf8))
    return HTTPService(
      over: cases, search: search, mirrorSearch: ScratchCatalogue(limit: .seconds(600)),
      engine: engine,
      crossOrigin: CrossOrigin(origins: origins, publicURL: publicURL),
      description: { description },
      page: { page },
      metricsText: { Array("stores_open 0\n".utf8) }, publicURL: publicURL,
      bodyFiles: bodyFiles, administration: ScriptedAdministration(now: { clock.now }),
      replications: ScriptedReplications(), pause: pause)
  }

  /// Removes a store's tombstones that are at least this many days old, as the sweep does.
  /// - Returns: the number of documents removed.
  func forget(_ store: StoreName, after days: Int64) async throws -> Int? {
    let limit = clock.now.adding(seconds: -days * 86_400)
    return try await service.hotels.maintain(store, at: clock.now) { $0 <= limit }
      .removed[.tombstones]
  }

  /// Sends one request.
  @discardableResult
  func call(
    _ method: HTTPRequest.Method, _ target: String, token: String? = nil, body: String? = nil,
    headers: HTTPFields = [:], at location: SourceLocation = #_sourceLocation
  ) async throws -> Reply {
    try await send(
      method, target, token: token, body: body.map { ByteBuffer(string: $0) }, headers: headers,
      at: location)
  }

  /// Sends one request with a body of bytes.
  /// - Parameter hasLines: whether each line of the response is JSON, as in a continuous feed.
  func send(
    _ method: HTTPRequest.Method, _ target: String, token: String? = nil, body: ByteBuffer?,
    headers: HTTPFields = [:], hasLines: Bool = false,
    at location: SourceLocation = #_sourceLocation
  ) async throws -> Reply {
    // A real server renews its health once a second.
    if OperationQuestion(target: target) != nil { await service.findHealth(Self.quiet) }
    var fields = headers
    if let token { fields[.authorization] = "Bearer " + token }
    // CouchDB asks all clients for it.
    if method == .post, target.hasPrefix("/couch/"), body != nil, fields[.origin] == nil,
      fields[.contentType] == nil
    {
      fields[.contentType] = "application/json"
    }
    let reply = Reply(
      try await client.execute(uri: target, method: method, headers: fields, body: body))
    for answer in hasLines ? reply.lines : [reply] {
      for fault in contract.faults(of: answer, to: method, target) {
        Issue.record(
          "\(method.rawValue) \(target) answers \(reply.status): \(fault)",
          sourceLocation: location)
      }
    }
    return reply
  }

  /// Opens a feed, and waits until its answer has begun. It has found its start then, and sees every later change.
  /// - Parameter take: is called with each piece of the answer.
  /// - Returns: the task whose value is the complete answer.
  func openFeed(
    _ target: String, token: String, hasLines: Bool = false,
    take: @escaping @Sendable (ByteBuffer) -> Void = { _ in }
  ) async -> Task<Reply, any Error> {
    let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
    let feed = Task {
      defer { beginning.finish() }
      return try await PieceByPiece.$take.withValue({ piece in
        take(piece)
        beginning.yield()
      }) {
        try await send(.get, target, token: token, body: nil, hasLines: hasLines)
      }
    }
    _ = await begun.first { true }
    return feed
  }

  /// Makes a guest and returns its token.
  func guest() async throws -> String {
    try #require(try await call(.post, "/v1/guests")["token"])
  }

  /// Signs up a user with the usual password.
  func signUp(_ name: String, guest: String? = nil) async throws -> Reply {
    try await call(.post, "/v1/users", token: guest, body: Self.credentials(name))
  }

  /// Makes a user and returns its token.
  func user(_ name: String) async throws -> String {
    try #require(try await signUp(name)["token"])
  }

  /// Bookmarks a hotel that has only a name.
  /// - Returns: the hotel's entity tag.
  @discardableResult
  func bookmark(_ id: String, _ token: String) async throws -> String {
    let reply = try await call(
      .put, "/v1/bookmarks/" + id, token: token, body: #"{"name":"\#(id)"}"#)
    return try #require(reply.headers[.eTag])
  }

  /// The body of a sign-up or log-in.
  static func credentials(_ name: String, _ password: String = password) -> String {
    #"{"username":"\#(name)","password":"\#(password)"}"#
  }
}
