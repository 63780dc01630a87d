import ArgumentParser
import Glibc
import HotelBookmarks

/// Commands for the administrator's account, and for the work of a running server.
struct AdminCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "admin", abstract: "Manage the administrator and a running server's work.",
    subcommands: [ResetPassword.self, Cancel.self])

  struct ResetPassword: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Set a new random password for the administrator and print it once.",
      discussion: """
        Stop the server of the data directory first; servers of a database use the new password within a second. A \
        server started with --admin-password-file uses the password of that file instead.
        """)

    @OptionGroup var location: LocationOptions

    func run() async throws { print(try await PasswordReset.run(location.location)) }
  }

  struct Cancel: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Cancel a running server's backup, check, repair, move or import.",
      discussion: "A regular backup that is cancelled is made again when the next one is due.")

    @Option(help: "The server's data directory; also HOTEL_BOOKMARKS_DATA.")
    var data = DataDirectory.standard

    func run() async throws { print(try await JobCancellation.run(in: data)) }
  }
}

struct KeysCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "keys", abstract: "Manage the keys that sign tokens.",
    subcommands: [Rotate.self])

  struct Rotate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Sign new tokens with a new key. Older tokens stay valid until they expire.")

    @OptionGroup var location: LocationOptions
    @Flag(help: "End all tokens at once. Guests who have not signed up lose their bookmarks.")
    var endTokens = false

    func run() async throws {
      try await KeyAdministration.rotate(location.location, endingAll: endTokens)
      print("rotated; a running server uses the new key within 30 seconds")
    }
  }
}

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
