import ArgumentParser
import Glibc
import HotelBookmarks

/// Looks through data directories and backups.
struct VerifyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Look through data directories and backups for damage, without changing them.",
    discussion: """
      Every stored body, revision and count is checked. A directory that a server uses is looked through by \
      that server. Prints a line for each damage. Exit status: 0 sound, 65 damage, 78 a directory that can't \
      be looked through.
      """)

  @Argument(help: "Data directories or backups.")
  var directories: [String]

  func run() async throws {
    let bar = ProgressBar(isShown: isatty(2) == 1)
    do {
      let outcome = try await Verification.run(directories, progress: bar.show) { line in
        print(line)
      }
      fflush(nil)
      switch outcome {
      case .sound: return
      case .damaged: throw ExitCode(65)
      case .impossible: throw ExitCode(78)
      }
    } catch let code as ExitCode {
      throw code
    } catch { throw Failure.start(error) }
  }
}
