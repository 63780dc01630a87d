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
      if let passwordFile { return try PasswordFile.text(in: passwordFile, of: "--password-file") }
      return PasswordFile.trimmed(
        isatty(STDIN_FILENO) == 1 ? HiddenInput.line() : readLine(strippingNewline: false) ?? "")
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
        It works once, within a day, and only until the password changes. If the link begins with /reset, put the \
        server's address before it. What stands behind the # is the token of POST /v1/password-resets.
        """)

    @Argument(help: "The user's name.")
    var name: String
    @Option(
      help: """
        The URL by which people reach the server. Default: HOTEL_BOOKMARKS_PUBLIC_URL, else that of the server that \
        uses the data directory.
        """)
    var publicUrl: String?
    @OptionGroup var location: LocationOptions

    func run() async throws {
      let variable = SettingKey.publicURL.environmentName
      let given =
        publicUrl.map { ($0, "--public-url") }
        ?? ProcessInfo.processInfo.environment[variable].map { ($0, variable) }
      let url = try given.map { try Settings.serverURL($0.0, of: $0.1) }
      print(try await UserAdministration(location.location).resetLink(for: name, at: url))
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

/// What is typed at a terminal that does not show it.
private enum HiddenInput {
  /// The settings of the terminal before. A handler of a signal can reach only a global variable; this one is set before
  /// the handlers are there, and by nothing else.
  nonisolated(unsafe) private static var shown = termios()
  /// The signals by which a terminal or an operator ends a command.
  private static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]

  /// Asks for a password and reads a line. A signal that ends the command meanwhile leaves the terminal as it was.
  static func line() -> String {
    var before = termios()
    guard tcgetattr(STDIN_FILENO, &before) == 0 else { return readLine() ?? "" }
    shown = before
    // signal(2), tcsetattr(3) and raise(3) may be called in a handler (signal-safety(7)).
    let former = signals.map { number in
      signal(number) { number in
        var before = HiddenInput.shown
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &before)
        signal(number, SIG_DFL)
        raise(number)
      }
    }
    var hidden = before
    hidden.c_lflag &= ~tcflag_t(ECHO)
    // A shell does not hide again what is typed after a pause by Ctrl-Z.
    withUnsafeMutableBytes(of: &hidden.c_cc) { $0[Int(VSUSP)] = 0 }
    say("Password: ")
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden)
    defer {
      tcsetattr(STDIN_FILENO, TCSAFLUSH, &before)
      for (number, handler) in zip(signals, former) { signal(number, handler) }
      say("\n")
    }
    return readLine() ?? ""
  }

  private static func say(_ text: String) {
    _ = text.withCString { write(STDERR_FILENO, $0, text.utf8.count) }
  }
}
