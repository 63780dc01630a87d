import ArgumentParser
import Glibc
import HotelBookmarks

struct BackupCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup",
    abstract: "Back up all stores, accounts and keys. A server may run meanwhile.",
    discussion: """
      A running server makes the backup itself, so it must be allowed to write to the backup's directory. This command \
      copies the stores of a database into a directory beside the backup, which needs the same space again. The backup \
      contains secrets: protect it like the data directory. Exit status 65: there is damage. One line is printed for \
      each damage. A store that can't be read is left out; of a store in a database only the damaged parts are left out.
      """)

  @Argument(help: "The directory of the backup. It must be absent or empty.")
  var directory: String
  @OptionGroup var location: LocationOptions

  func run() async throws {
    let outcome = try await BackupAdministration.backUp(location.location, to: directory, .terminal)
    print("backed up to \(directory): \(outcome.message)")
    guard !outcome.isDamaged else { throw ExitCode(65) }
  }
}

struct RestoreCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore", abstract: "Restore a backup into a data directory or a database.",
    discussion: """
      Devices that sync start over after a restoration and miss nothing. With --database the \
      stores go through a directory beside the backup, which takes as much space again; the database must be empty, and \
      no server may use it. Exit status 65: parts of the backup are damaged; the rest was restored, with --database \
      only into that directory.

      With --store one damaged store of a data directory is restored, also while a server runs. The damaged file \
      stays beside the new one.
      """)

  @Argument(help: "The backup.")
  var backup: String
  @OptionGroup var location: LocationOptions
  @Option(
    help: """
      A log of erasures that is newer than the backup, or a data directory, backup or database (postgres://…) that \
      has one. Accounts in this log stay erased. May be given several times.
      """)
  var erasures: [String] = []
  @Option(
    help: """
      Restore this store only, if it is damaged and can't be repaired: its name (user/ID, guest/ID, list/ID, \
      named/NAME) or its file, as verify prints it.
      """)
  var store: String?

  func run() async throws {
    if let store {
      return try await BackupAdministration.replace(store, from: backup, location.location)
    }
    let outcome = try await RestoreAdministration.restore(
      backup, to: location.location, erasures: erasures, .terminal)
    for line in outcome.lines { print(line) }
    guard !outcome.isDamaged else { throw ExitCode(65) }
  }
}

extension BackupAdministration {
  /// Replaces the damaged file of a store and prints the result.
  fileprivate static func replace(
    _ store: String, from backup: String?, _ location: StorageLocation
  ) async throws {
    let outcome = try await replace(store, from: backup, location, .terminal)
    print("\(store) was replaced: \(outcome.message)")
    guard !outcome.isDamaged else { throw ExitCode(65) }
  }
}

/// Verifies data directories and backups.
struct VerifyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Check data directories, backups or a database for damage. Nothing is changed.",
    discussion: """
      Every stored body, revision and count is checked. A server that uses a directory checks it itself. Prints one \
      line for each damage. Exit status: 0 no damage, 65 damage, 78 a directory that can't be checked.
      """)

  @Argument(help: "Data directories or backups.")
  var directories: [String] = []
  @Option(help: "A database, postgres://…, also while servers run.")
  var database: String?
  @Option(
    help: "A file with its password; also HOTEL_BOOKMARKS_DATABASE_PASSWORD_FILE. Default: none")
  var databasePasswordFile: String?

  func validate() throws {
    guard !directories.isEmpty || database != nil else {
      throw ValidationError("Give a directory or --database.")
    }
  }

  func run() async throws {
    let bar = ProgressBar(isShown: isatty(2) == 1)
    var outcome = try await Verification.run(directories, progress: bar.show) { print($0) }
    if let database {
      let location = StorageLocation(
        data: "", database: database,
        databasePasswordFile: DatabasePassword.file(databasePasswordFile))
      let found = try await Verification.run(database: location, progress: bar.show) { print($0) }
      if found.rawValue > outcome.rawValue { outcome = found }
    }
    fflush(nil)
    switch outcome {
    case .sound: return
    case .damaged: throw ExitCode(65)
    case .impossible: throw ExitCode(78)
    }
  }
}

struct RepairCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "repair",
    abstract: "Check all stores and repair damage. A server may run meanwhile.",
    discussion: """
      A value in which one byte is wrong is computed again. Another damaged value is set aside in its store for 90 \
      days, where its owner is told of it; an older body or another branch takes its place if there is one. A file \
      that SQLite finds damaged is written again from its rows if all of them can be read. Without a server, the \
      registry of stores is rebuilt, too. In a database, the damaged row of a store is written again. Accounts are \
      repaired only without loss. Prints a line for each damaged store. Exit status: 0 nothing is lost, 65 something \
      is lost or still damaged: a backup may have it (restore --store).
      """)

  @OptionGroup var location: LocationOptions
  @Option(
    help: """
      Begin this damaged store without documents, if there is no backup of it: its name or its file, as for restore \
      --store. The damaged file stays beside the new one, and devices that sync bring what they have.
      """)
  var beginAnew: String?

  func run() async throws {
    if let beginAnew {
      return try await BackupAdministration.replace(beginAnew, from: nil, location.location)
    }
    let outcome = try await BackupAdministration.repair(location.location, .terminal)
    print(outcome.message)
    guard !outcome.isDamaged else { throw ExitCode(65) }
  }
}
