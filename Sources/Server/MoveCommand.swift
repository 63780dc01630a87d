import ArgumentParser
import HotelBookmarks

/// Moves all stores between a data directory and a database.
struct MoveCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "move",
    abstract: "Move all stores from a data directory to a PostgreSQL database, or back.",
    discussion: """
      A server that uses the data directory of --from moves the stores itself. It continues to answer. Near the end \
      it refuses changes (503 stores_moved), until you stop it and start servers on the database. Stop the servers of a \
      database first. Clients notice nothing else: revisions, sequence numbers and tokens stay the \
      same. Each copy is compared with its original. After an interruption run the same command again; only what has \
      changed is copied. At the end the source is marked, and no server starts on it: with the file "moved" in a data \
      directory. To use the source again, remove that file, or run move --undo PLACE. Exit status: 0 moved, 65 a store \
      can't be read: it is named, all others were copied, and the source stays in use, 78 a place that can't be used.
      """)

  @Option(help: "Where the stores are: a data directory, or a postgres:// URL.")
  var from: String?
  @Option(help: "Where they go: a postgres:// URL, or a data directory that is absent or empty.")
  var to: String?
  @Option(help: "Let servers use a place again after its stores were moved. Moves nothing.")
  var undo: String?
  @Option(
    help: """
      A file with the database's password, its last line break ignored; also HOTEL_BOOKMARKS_DATABASE_PASSWORD_FILE.
      """)
  var databasePasswordFile: String?

  func validate() throws {
    guard (from != nil && to != nil && undo == nil) || (from == nil && to == nil && undo != nil)
    else { throw ValidationError("Give --from and --to, or --undo alone.") }
  }

  func run() async throws {
    let passwordFile = DatabasePassword.file(databasePasswordFile)
    if let undo {
      print(try await MoveAdministration.undo(undo, passwordFile: passwordFile))
    } else if let from, let to {
      let outcome = try await MoveAdministration.move(
        from: from, to: to, passwordFile: passwordFile, .terminal)
      for line in outcome.lines { print(line) }
      guard !outcome.isDamaged else { throw ExitCode(65) }
    }
  }
}
