import ArgumentParser
import Glibc
import HotelBookmarks

/// The command line.
@main
struct HotelBookmarksCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "hotel-bookmarks",
    abstract: "Offline-first hotel bookmarks: a store for every guest and user, search, and sync.",
    version: Version.current,
    subcommands: [
      ServeCommand.self, CatalogueCommand.self, UserCommand.self, AdminCommand.self,
      KeysCommand.self, BackupCommand.self, RestoreCommand.self, VerifyCommand.self,
      RepairCommand.self,
      HealthCommand.self, VersionCommand.self,
    ])

  /// Runs the command that the arguments name.
  static func main() async {
    // A write beyond the limit on a file's size fails with EFBIG then, and does not end the process
    // (setrlimit(2), RLIMIT_FSIZE).
    signal(SIGXFSZ, SIG_IGN)
    await main(nil)
  }
}

/// Prints the version.
struct VersionCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "version", abstract: "Print the version.")

  func run() { print(Version.current) }
}
