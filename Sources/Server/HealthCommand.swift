import ArgumentParser
import HotelBookmarks

/// Asks a server whether it is ready, for containers without curl.
struct HealthCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "health", abstract: "Exit 0 if a server's /readyz answers 200, else 1.")

  @Option(help: "The server's base URL.")
  var url = "http://127.0.0.1:8080"

  func run() async throws {
    guard await HealthCheck.isReady(url) else { throw ExitCode(1) }
  }
}
