import ArgumentParser
import FoundationEssentials
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

/// How a command ends that can't do its work: one line, and the exit status that sysexits.h gives it.
enum Failure {
  /// Settings or a data directory that can't be used: 78, EX_CONFIG.
  static func configuration(_ error: any Error) -> any Error {
    end(error, status: 78)
  }

  /// What kept the server from starting or a command from its work.
  static func start(_ error: any Error) -> any Error {
    end(error, status: StartFailure.isConfiguration(error) ? 78 : 1)
  }

  /// Settings by which no server can be asked: 1, as for one that is not ready.
  static func health(_ error: any Error) -> any Error { end(error, status: 1) }

  private static func end(_ error: any Error, status: Int32) -> any Error {
    StandardError.write(Array("hotel-bookmarks: \(StartFailure.line(error))\n".utf8))
    return ExitCode(status)
  }
}

/// Where the data is when no flag says so.
enum DataDirectory {
  /// What the environment names, else what `serve` takes by default.
  static let standard =
    ProcessInfo.processInfo.environment[SettingKey.data.environmentName] ?? Settings().data
}
