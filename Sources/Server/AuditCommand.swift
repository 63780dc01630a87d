import ArgumentParser
import Glibc
import HotelBookmarks

/// Prints the audit log.
struct AuditCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "audit",
    abstract: "Print the audit log, which serve --audit keeps. A server may run meanwhile.",
    discussion: "One JSON object a line, the oldest first, of at most 90 days.")

  @Option(help: "Leave out what was before this time, as 2026-11-28T00:00:00Z.")
  var since: String?
  @OptionGroup var location: LocationOptions

  func run() async throws {
    try await AuditReport.run(location.location, since: since) { print($0) }
    fflush(nil)
  }
}
