import ArgumentParser
import FoundationEssentials
import HotelBookmarks

/// Starts the server.
struct ServeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve", abstract: "Start the server.",
    discussion: """
      Each setting may also stand in the environment as HOTEL_BOOKMARKS_ and its name in upper snake case \
      (HOTEL_BOOKMARKS_PORT), or in a JSON file named by --config as an object with the names in camel case \
      ("port", "publicUrl"). A flag goes before the environment, the environment before the file. Unknown \
      names refuse to start.
      """)

  @Option(help: "The address to listen at. Default: 127.0.0.1")
  var hostname: String?
  @Option(help: "The TCP port, 0 for a free one. Default: 8080")
  var port: String?
  @Option(
    help: """
      The port at which only /healthz, /readyz, /metrics and /couch/_up are answered; 0 for any. Default: none
      """)
  var operationsPort: String?
  @Option(help: "The data directory; made if absent. Default: hotel-bookmarks-data")
  var data: String?
  @Option(
    help: """
      Where searches go: embedded, a travel-sample back end's base URL, couchbase:URL#INDEX or \
      opensearch:URL#INDEX; several by commas, the next one asked when one can't answer. Default: embedded
      """)
  var upstream: String?
  @Option(help: "A file with a line URL USER:PASSWORD for each search engine that wants one")
  var upstreamCredentialsFile: String?
  @Option(
    help: """
      The only networks that upstreams may be in, as 10.0.0.0/8, by commas. Default: any for an address or       localhost, none of this machine or its link for a name
      """)
  var upstreamNetworks: String?
  @Option(
    help: "A PEM file of authorities that upstreams' certificates may be of. Default: the system's")
  var upstreamCaFile: String?
  @Option(help: "The URL that clients reach this server by. Default: each request's own Host")
  var publicUrl: String?
  @Option(
    help: "Origins whose pages may call, by commas; * for any, without cookies. Default: none")
  var origins: String?
  @Option(
    help: "Addresses of proxies whose X-Forwarded-For is taken, such as 10.0.0.0/8. Default: none")
  var trustedProxies: String?
  @Option(help: "A PEM file with the certificate, for TLS and HTTP/2. Default: none, no TLS")
  var tlsCertificateFile: String?
  @Option(help: "A PEM file with the certificate's key")
  var tlsKeyFile: String?
  @Option(help: "Connections at once. Default: 10000, fewer where descriptors are few")
  var connections: String?
  @Option(
    help: "Connections at once from one address. Default: 256, not counting this machine's own")
  var connectionsPerAddress: String?
  @Option(help: "Requests answered at once, at most. Default: 1024")
  var requestsAtOnce: String?
  @Option(help: "Guests that one address may make in an hour. Default: 6000")
  var guestsPerHour: String?
  @Option(
    help: """
      Whose ID tokens are taken at POST /v1/sessions: ISSUER#CLIENT by commas, with one # more for each further \
      client id. Default: nobody's
      """)
  var issuers: String?
  @Option(help: "Key sets that are not where discovery says: ISSUER#URL by commas. Default: none")
  var issuerKeys: String?
  @Option(help: "The only networks that issuers may be in, by commas. Default: as for upstreams")
  var issuerNetworks: String?
  @Option(help: "Stores open at once. Default: by the limit on descriptors, at most 2000")
  var openStores: String?
  @Option(help: "Documents of a database of the administrator's. Default: no bound")
  var databaseDocuments: String?
  @Option(help: "Bytes of all documents of such a database. Default: no bound")
  var databaseBytes: String?
  @Option(help: "Bytes of one document of such a database, 1048576 to 8000000. Default: 8000000")
  var databaseDocumentBytes: String?
  @Option(
    help: """
      Bytes of one document's revision tree in such a database, 1048576 to 67108864. \
      Default: 8388608
      """)
  var databaseTreeBytes: String?
  @Option(help: "The administrator's name. Default: admin")
  var adminName: String?
  @Option(
    help: """
      A file with the administrator's password, its last line break ignored. Default: one that is drawn and \
      printed at the first start
      """)
  var adminPasswordFile: String?
  @Option(help: "The least level logged, trace to critical. Default: info")
  var logLevel: String?
  @Option(help: "How log lines are written: text or json. Default: text")
  var logFormat: String?
  @Option(
    help: "1 to say in each answer's Server-Timing what it cost, for measurements. Default: 0")
  var showCost: String?
  @Option(
    help: """
      Seconds for which requests are still taken after SIGTERM, while /readyz says 503, so that whoever sends them \
      here sends them elsewhere. Default: 0
      """)
  var drainSeconds: String?
  @Option(help: "A JSON file of settings. Default: none")
  var config: String?

  func run() async throws {
    let settings: Settings
    do { settings = try read() } catch { throw Failure.configuration(error) }
    do {
      try await BookmarkServer(settings) { line in
        StandardOutput.write(Array((line + "\n").utf8))
      }.run()
    } catch {
      throw Failure.start(error)
    }
  }

  private func read() throws -> Settings {
    let flags: [SettingKey: String?] = [
      .hostname: hostname, .port: port, .operationsPort: operationsPort, .data: data,
      .upstream: upstream,
      .upstreamCredentialsFile: upstreamCredentialsFile, .upstreamNetworks: upstreamNetworks,
      .upstreamCAFile: upstreamCaFile, .publicURL: publicUrl,
      .origins: origins, .trustedProxies: trustedProxies,
      .tlsCertificateFile: tlsCertificateFile, .tlsKeyFile: tlsKeyFile,
      .connections: connections, .connectionsPerAddress: connectionsPerAddress,
      .requestsAtOnce: requestsAtOnce, .guestsPerHour: guestsPerHour, .issuers: issuers,
      .issuerKeys: issuerKeys, .issuerNetworks: issuerNetworks, .openStores: openStores,
      .databaseDocuments: databaseDocuments, .databaseBytes: databaseBytes,
      .databaseDocumentBytes: databaseDocumentBytes, .databaseTreeBytes: databaseTreeBytes,
      .adminName: adminName, .adminPasswordFile: adminPasswordFile, .logLevel: logLevel,
      .logFormat: logFormat, .showCost: showCost, .drainSeconds: drainSeconds,
    ]
    let file = try config.map { path in
      guard let file = FileManager.default.contents(atPath: path) else {
        let isThere = FileManager.default.fileExists(atPath: path)
        throw SettingsError(
          description:
            "The file of --config, \(path), \(isThere ? "can't be read" : "is not there")")
      }
      return [UInt8](file)
    }
    return try SettingsReader(
      flags: flags.compactMapValues { $0 }, environment: ProcessInfo.processInfo.environment,
      file: file
    ).settings()
  }
}
