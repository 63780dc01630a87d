import ArgumentParser
import HotelBookmarks

/// Asks a server whether it is ready, for containers without curl.
struct HealthCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "health",
    abstract: "Exit with 0 if a server's /readyz answers 200, otherwise with 1, and say why.",
    discussion: """
      Without --url the command asks the server of this machine. It reads that server's settings as serve does: flags, \
      the environment and the configuration file. It accepts any certificate of that server.
      """)

  @Option(help: "The server's base URL. Default: from the settings")
  var url: String?
  @Option(help: "The address at which it listens; see serve --help.")
  var hostname: String?
  @Option(help: "Its port.")
  var port: String?
  @Option(help: "Its port for operators.")
  var operationsPort: String?
  @Option(help: "Its certificate.")
  var tlsCertificateFile: String?
  @Option(help: "The key of its certificate.")
  var tlsKeyFile: String?
  @Option(help: "Its JSON file of settings.")
  var config: String?

  func run() async throws {
    let found: String
    do {
      found =
        try url.map { try Settings.serverURL($0, of: "--url") }
        ?? HealthCheck.url(of: Settings(of: self, config: config))
    } catch { throw Failure.health(error) }
    guard let failure = await HealthCheck.failure(of: found, isOwn: url == nil) else { return }
    StandardError.write(Array("hotel-bookmarks: \(failure)\n".utf8))
    throw ExitCode(1)
  }
}
