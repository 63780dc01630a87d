import ArgumentParser
import Glibc
import HotelBookmarks

@main
struct HotelBookmarksCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "hotel-bookmarks",
    abstract: "Offline-first hotel bookmarks: a store for every guest and user, search, and sync.",
    version: Version.current,
    subcommands: [
      ServeCommand.self, CatalogueCommand.self, UserCommand.self, AdminCommand.self,
      AuditCommand.self, KeysCommand.self, BackupCommand.self, RestoreCommand.self,
      VerifyCommand.self,
      RepairCommand.self, MoveCommand.self,
      HealthCommand.self, VersionCommand.self,
    ])

  static func main() async {
    // Without this signal, a write beyond the limit on a file's size fails with EFBIG instead of ending the process
    // (setrlimit(2), RLIMIT_FSIZE).
    signal(SIGXFSZ, SIG_IGN)
    do {
      var parsed = try await asyncParseAsRoot()
      // The parser's own commands, such as that for --help, fail with the parser's own errors.
      guard var command = parsed as? any AsyncParsableCommand else { return try parsed.run() }
      do {
        try await command.run()
      } catch let error where !(error is ExitCode || error is CleanExit) {
        throw Failure.start(error)
      }
    } catch { exit(withError: error) }
  }
}

struct VersionCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "version", abstract: "Print the version.")

  func run() { print(Version.current) }
}

/// How a command fails: with one line on standard error and an exit status of sysexits.h.
enum Failure {
  /// Settings or a data directory that can't be used: status 78, EX_CONFIG.
  static func configuration(_ error: any Error) -> any Error { end(error, status: 78) }

  /// A server that could not start, or a command that could not do its work.
  static func start(_ error: any Error) -> any Error {
    end(error, status: StartFailure.status(of: error))
  }

  /// Settings that name no server to ask: status 1, as for a server that is not ready.
  static func health(_ error: any Error) -> any Error { end(error, status: 1) }

  private static func end(_ error: any Error, status: Int32) -> any Error {
    StandardError.write(Array("hotel-bookmarks: \(StartFailure.line(error))\n".utf8))
    return ExitCode(status)
  }
}
