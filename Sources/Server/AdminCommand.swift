import ArgumentParser
import HotelBookmarks

/// Commands for the administrator's account, while the server is not running.
struct AdminCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "admin", abstract: "Manage the administrator.",
    subcommands: [ResetPassword.self])

  struct ResetPassword: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Set a new random password for the administrator and print it once.",
      discussion:
        "A server started with --admin-password-file uses the password of that file instead."
    )

    @OptionGroup var location: LocationOptions

    func run() async throws {
      print(try await PasswordReset.run(location.location))
    }
  }
}

struct KeysCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "keys", abstract: "Manage the keys that sign tokens.",
    subcommands: [Rotate.self])

  struct Rotate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Sign new tokens with a new key. Older tokens stay valid until they expire.")

    @OptionGroup var location: LocationOptions

    func run() async throws {
      try await KeyAdministration.rotate(location.location)
      print("rotated; a running server uses the new key within 30 seconds")
    }
  }
}
