import ArgumentParser
import Foundation
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
  @Option(help: "The data directory; made if absent. Default: hotel-bookmarks-data")
  var data: String?
  @Option(
    help: "Where searches go: embedded, or a travel-sample back end's base URL. Default: embedded")
  var upstream: String?
  @Option(help: "The URL that clients reach this server by. Default: each request's own Host")
  var publicUrl: String?
  @Option(help: "Origins whose pages may call with credentials, separated by commas. Default: none")
  var origins: String?
  @Option(help: "Guests that one address may make in an hour. Default: 6000")
  var guestsPerHour: String?
  @Option(help: "Stores open at once. Default: by the limit on descriptors, at most 2000")
  var openStores: String?
  @Option(help: "The least level logged, trace to critical. Default: info")
  var logLevel: String?
  @Option(help: "How log lines are written: text or json. Default: text")
  var logFormat: String?
  @Option(help: "A JSON file of settings. Default: none")
  var config: String?

  func run() async throws {
    let settings: Settings
    do { settings = try read() } catch { throw Failure.configuration(error) }
    do {
      try await BookmarkServer(settings) { line in
        print(line)
        fflush(nil)
      }.run()
    } catch {
      throw Failure.start(error)
    }
  }

  private func read() throws -> Settings {
    let flags: [SettingKey: String?] = [
      .hostname: hostname, .port: port, .data: data, .upstream: upstream, .publicURL: publicUrl,
      .origins: origins, .guestsPerHour: guestsPerHour, .openStores: openStores,
      .logLevel: logLevel, .logFormat: logFormat,
    ]
    let file = try config.map { try [UInt8](Data(contentsOf: URL(fileURLWithPath: $0))) }
    return try SettingsReader(
      flags: flags.compactMapValues { $0 }, environment: ProcessInfo.processInfo.environment,
      file: file
    ).settings()
  }
}
