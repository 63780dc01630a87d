import ArgumentParser
import FoundationEssentials
import HotelBookmarks

/// Asks a server whether it is ready, for containers without curl.
struct HealthCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "health", abstract: "Exit 0 if a server's /readyz answers 200, else 1.",
    discussion: """
      Without --url the server of this machine is asked that has these settings: flags, the environment and the \
      configuration file are read as serve reads them. Its own certificate may be any.
      """)

  @Option(help: "The server's base URL. Default: by the settings")
  var url: String?
  @Option(help: "The address that it listens at; see serve --help.")
  var hostname: String?
  @Option(help: "Its port.")
  var port: String?
  @Option(help: "Its port for what operators ask.")
  var operationsPort: String?
  @Option(help: "Its certificate.")
  var tlsCertificateFile: String?
  @Option(help: "Its certificate's key.")
  var tlsKeyFile: String?
  @Option(help: "Its JSON file of settings.")
  var config: String?

  func run() async throws {
    let found: String
    do { found = try url ?? HealthCheck.url(of: settings()) } catch {
      throw Failure.health(error)
    }
    guard await HealthCheck.isReady(found, isOwn: url == nil) else { throw ExitCode(1) }
  }

  private func settings() throws -> Settings {
    let flags: [SettingKey: String?] = [
      .hostname: hostname, .port: port, .operationsPort: operationsPort,
      .tlsCertificateFile: tlsCertificateFile, .tlsKeyFile: tlsKeyFile,
    ]
    let file = try config.map { try [UInt8](Data(contentsOf: URL(fileURLWithPath: $0))) }
    return try SettingsReader(
      flags: flags.compactMapValues { $0 }, environment: ProcessInfo.processInfo.environment,
      file: file
    ).settings()
  }
}
