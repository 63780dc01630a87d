import ArgumentParser
import Foundation
import HotelBookmarks

/// Asks a server whether it is ready, for containers without curl.
struct HealthCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "health", abstract: "Exit 0 if a server's /readyz answers 200, else 1.")

  @Option(
    help: """
      The server's base URL. Default: this machine's, at HOTEL_BOOKMARKS_OPERATIONS_PORT or \
      HOTEL_BOOKMARKS_PORT if one is set, else at 8080
      """)
  var url: String?

  func run() async throws {
    let url = url ?? HealthCheck.url(environment: ProcessInfo.processInfo.environment)
    guard await HealthCheck.isReady(url) else { throw ExitCode(1) }
  }
}
