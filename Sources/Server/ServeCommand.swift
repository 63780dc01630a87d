import ArgumentParser
import FoundationEssentials
import Glibc
import HotelBookmarks

struct ServeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve", abstract: "Start the server.",
    discussion: """
      Each setting can also be given in the environment as HOTEL_BOOKMARKS_ and its name in upper snake case \
      (HOTEL_BOOKMARKS_PORT), or in the JSON file of --config, an object with the names in camel case ("port", \
      "publicUrl"). A flag overrides the environment, the environment overrides the file. The server does not start \
      with an unknown name.
      """)

  @Option(help: .setting(.hostname)) var hostname: String?
  @Option(help: .setting(.port)) var port: String?
  @Option(help: .setting(.operationsPort)) var operationsPort: String?
  @Option(help: .setting(.couchPort)) var couchPort: String?
  @Option(help: .setting(.data)) var data: String?
  @Option(help: .setting(.database)) var database: String?
  @Option(help: .setting(.databasePasswordFile)) var databasePasswordFile: String?
  @Option(help: .setting(.databaseConnections)) var databaseConnections: String?
  @Option(help: .setting(.upstream)) var upstream: String?
  @Option(help: .setting(.upstreamCredentialsFile)) var upstreamCredentialsFile: String?
  @Option(help: .setting(.upstreamNetworks)) var upstreamNetworks: String?
  @Option(help: .setting(.upstreamCAFile)) var upstreamCaFile: String?
  @Option(help: .setting(.upstreamMilliseconds)) var upstreamMilliseconds: String?
  @Option(help: .setting(.searchMilliseconds)) var searchMilliseconds: String?
  @Option(help: .setting(.publicURL)) var publicUrl: String?
  @Option(help: .setting(.origins)) var origins: String?
  @Option(help: .setting(.trustedProxies)) var trustedProxies: String?
  @Option(help: .setting(.tlsCertificateFile)) var tlsCertificateFile: String?
  @Option(help: .setting(.tlsKeyFile)) var tlsKeyFile: String?
  @Option(help: .setting(.connections)) var connections: String?
  @Option(help: .setting(.connectionsPerAddress)) var connectionsPerAddress: String?
  @Option(help: .setting(.requestsAtOnce)) var requestsAtOnce: String?
  @Option(help: .setting(.overloadMilliseconds)) var overloadMilliseconds: String?
  @Option(help: .setting(.requestSeconds)) var requestSeconds: String?
  @Option(help: .setting(.requestProcessorMilliseconds)) var requestProcessorMilliseconds: String?
  @Option(help: .setting(.guestsPerHour)) var guestsPerHour: String?
  @Option(help: .setting(.guestBytesPerDay)) var guestBytesPerDay: String?
  @Option(help: .setting(.guestOverallBytes)) var guestOverallBytes: String?
  @Option(help: .setting(.ownedListBytes)) var ownedListBytes: String?
  @Option(help: .setting(.keptBytes)) var keptBytes: String?
  @Option(help: .setting(.issuers)) var issuers: String?
  @Option(help: .setting(.issuerKeys)) var issuerKeys: String?
  @Option(help: .setting(.issuerNetworks)) var issuerNetworks: String?
  @Option(help: .setting(.replicationNetworks)) var replicationNetworks: String?
  @Option(help: .setting(.openStores)) var openStores: String?
  @Option(help: .setting(.databaseDocuments)) var databaseDocuments: String?
  @Option(help: .setting(.databaseBytes)) var databaseBytes: String?
  @Option(help: .setting(.databaseDocumentBytes)) var databaseDocumentBytes: String?
  @Option(help: .setting(.databaseTreeBytes)) var databaseTreeBytes: String?
  @Option(help: .setting(.tombstoneDays)) var tombstoneDays: String?
  @Option(help: .setting(.backups)) var backups: String?
  @Option(help: .setting(.backupEvery)) var backupEvery: String?
  @Option(help: .setting(.backupKeep)) var backupKeep: String?
  @Option(help: .setting(.audit)) var audit: String?
  @Option(help: .setting(.adminName)) var adminName: String?
  @Option(help: .setting(.adminPasswordFile)) var adminPasswordFile: String?
  @Option(help: .setting(.logLevel)) var logLevel: String?
  @Option(help: .setting(.logFormat)) var logFormat: String?
  @Option(help: .setting(.showCost)) var showCost: String?
  @Option(help: .setting(.drainSeconds)) var drainSeconds: String?
  @Option(help: "A JSON file of settings. Default: none") var config: String?

  func run() async throws {
    // SIGHUP means "reload" to operators, so it never ends the server. With TLS it reloads the certificate.
    signal(SIGHUP, SIG_IGN)
    let settings: Settings
    do { settings = try Settings(of: self, config: config) } catch {
      throw Failure.configuration(error)
    }
    try await BookmarkServer(settings) { line in
      StandardOutput.write(Array((line + "\n").utf8))
    }.run()
  }
}

extension Settings {
  /// Reads the settings of a command's flags, the environment and the file of `--config`. A flag of a setting is an option
  /// with the setting's name.
  init(of command: some ParsableCommand, config: String?) throws {
    var flags: [SettingKey: String] = [:]
    for case (let name?, let option as Option<String?>) in Mirror(reflecting: command).children {
      // The storage of a property wrapper has the property's name behind an underscore.
      guard let key = SettingKey(rawValue: String(name.dropFirst())) else { continue }
      flags[key] = option.wrappedValue
    }
    let file = try config.map { path in
      guard let file = FileManager.default.contents(atPath: path) else {
        let isThere = FileManager.default.fileExists(atPath: path)
        throw SettingsError(
          "The file of --config, \(path), \(isThere ? "can't be read" : "is not there")")
      }
      return [UInt8](file)
    }
    self = try SettingsReader(
      flags: flags, environment: ProcessInfo.processInfo.environment, file: file
    ).settings()
  }
}

extension ArgumentHelp {
  fileprivate static func setting(_ key: SettingKey) -> ArgumentHelp { ArgumentHelp(key.help) }
}
