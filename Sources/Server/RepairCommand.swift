import ArgumentParser
import HotelBookmarks

/// Mends damaged stores.
struct RepairCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "repair",
    abstract: "Look through all stores and mend what is damaged, also while a server runs.",
    discussion: """
      A value of which one byte is wrong is computed back. What can't be is set aside in its store for 90 days, \
      where its owner is told of it, and an older body or another branch takes its place where there is one. The \
      accounts are never guessed at. Prints a line for each damaged store. Exit status: 0 nothing is lost, 65 \
      something is lost or damaged still, which a backup may have.
      """)

  @Option(help: "The data directory; also HOTEL_BOOKMARKS_DATA.")
  var data = DataDirectory.standard

  func run() async throws {
    do {
      let outcome = try await BackupAdministration.repair(data, .terminal)
      print(outcome.words)
      guard !outcome.isDamaged else { throw ExitCode(65) }
    } catch let code as ExitCode {
      throw code
    } catch { throw Failure.start(error) }
  }
}
