import ArgumentParser
import Foundation
import HotelBookmarks

/// Looks after users while the server is not running.
struct UserCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "user", abstract: "Look after users.", subcommands: [Add.self, Password.self])

  /// What both subcommands take.
  struct Options: ParsableArguments {
    @Argument(help: "The user's name: 1 to 239 bytes, none of / : , or a backtick.")
    var name: String
    @Option(help: "The data directory; also HOTEL_BOOKMARKS_DATA.")
    var data = DataDirectory.standard
    @Option(help: "A file with the password, its last line break ignored. Default: standard input")
    var passwordFile: String?

    /// The password; never an argument, which other processes could read.
    func password() throws -> String {
      let text: String
      if let passwordFile {
        text = try String(contentsOfFile: passwordFile, encoding: .utf8)
      } else {
        text = readLine(strippingNewline: false) ?? ""
      }
      return PasswordFile.trimmed(text)
    }
  }

  /// Adds a user.
  struct Add: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Add a user; the password is read from standard input or a file.")

    @OptionGroup var options: Options

    func run() async throws {
      do {
        let id = try await UserAdministration(data: options.data)
          .add(options.name, password: try options.password())
        print("added, id \(id)")
      } catch { throw Failure.start(error) }
    }
  }

  /// Changes a user's password.
  struct Password: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Give a user a new password; every session of the user ends.")

    @OptionGroup var options: Options

    func run() async throws {
      do {
        try await UserAdministration(data: options.data)
          .changePassword(of: options.name, to: try options.password())
        print("changed")
      } catch { throw Failure.start(error) }
    }
  }
}
