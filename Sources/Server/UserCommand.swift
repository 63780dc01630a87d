import ArgumentParser
import FoundationEssentials
import Glibc
import HotelBookmarks

/// Commands for users, also while a server runs.
struct UserCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "user", abstract: "Manage users. A server may run meanwhile.",
    subcommands: [List.self, Add.self, Password.self, Reset.self, Delete.self])

  /// The arguments of adding a user and of changing a password.
  struct Options: ParsableArguments {
    @Argument(help: "The user's name: 1 to 239 bytes, without / : , and backticks.")
    var name: String
    @OptionGroup var location: LocationOptions
    @Option(help: "A file with the password, its last line break ignored. Default: standard input")
    var passwordFile: String?

    /// The password. It is never an argument, because other processes could read that.
    func password() throws -> String {
      if let passwordFile {
        return try PasswordFile.text(in: passwordFile, of: "--password-file")
      }
      return PasswordFile.trimmed(
        isatty(STDIN_FILENO) == 1 ? Self.typed() : readLine(strippingNewline: false) ?? "")
    }

    private static func say(_ text: String) {
      _ = text.withCString { write(STDERR_FILENO, $0, text.utf8.count) }
    }

    /// Reads a line from the terminal, which does not show it.
    private static func typed() -> String {
      var shown = termios()
      guard tcgetattr(STDIN_FILENO, &shown) == 0 else { return readLine() ?? "" }
      var hidden = shown
      hidden.c_lflag &= ~tcflag_t(ECHO)
      say("Password: ")
      tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden)
      defer {
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &shown)
        say("\n")
      }
      return readLine() ?? ""
    }
  }

  struct Add: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Add a user; the password is read from standard input or a file.")

    @OptionGroup var options: Options

    func run() async throws {
      let id = try await UserAdministration(options.location.location)
        .add(options.name, password: try options.password())
      print("added, id \(id)")
    }
  }

  struct Password: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Set a user's password. Every session of the user ends.")

    @OptionGroup var options: Options

    func run() async throws {
      try await UserAdministration(options.location.location)
        .changePassword(of: options.name, to: try options.password())
      print("changed")
    }
  }

  /// Prints a link for choosing another password.
  struct Reset: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Print a link with which a user who forgot the password sets a new one.",
      discussion: """
        It works once, within a day, and only until the password changes. Without a public URL, put the server's \
        address before it. What stands behind the # is the token of POST /v1/password-resets.
        """)

    @Argument(help: "The user's name.")
    var name: String
    @Option(help: "The URL by which people reach the server. Default: HOTEL_BOOKMARKS_PUBLIC_URL")
    var publicUrl: String?
    @OptionGroup var location: LocationOptions

    func run() async throws {
      let token = try await UserAdministration(location.location).resetPassword(of: name)
      let url =
        publicUrl ?? ProcessInfo.processInfo.environment[SettingKey.publicURL.environmentName]
        ?? ""
      print((url.hasSuffix("/") ? String(url.dropLast()) : url) + "/reset#" + token)
    }
  }

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Print one line for each user: id, time of sign-up, name.",
      discussion: "Users of other issuers have no name here.")

    @OptionGroup var location: LocationOptions

    func run() async throws {
      for line in try await UserAdministration(location.location).list() { print(line) }
    }
  }

  struct Delete: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Erase a user and all that the user has stored. Every session of the user ends.")

    @Argument(help: "The user's name or id.")
    var user: String
    @OptionGroup var location: LocationOptions

    func run() async throws {
      try await UserAdministration(location.location).delete(user)
      print("deleted")
    }
  }
}
