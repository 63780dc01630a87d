import ArgumentParser
import HotelBookmarks

/// Commands for the administrator's account, while the server is not running.
struct AdminCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "admin", abstract: "Look after the administrator.",
    subcommands: [ResetPassword.self])

  struct ResetPassword: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Give the administrator a new password and print it, this once.",
      discussion:
        "A server that is started with --admin-password-file takes the password in that file instead."
    )

    @OptionGroup var location: LocationOptions

    func run() async throws {
      do { print(try await PasswordReset.run(location.location)) } catch {
        throw Failure.start(error)
      }
    }
  }
}

struct KeysCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "keys", abstract: "Look after the keys that tokens are signed with.",
    subcommands: [Rotate.self])

  struct Rotate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Sign new tokens with a new key; tokens signed before stay good until they expire.")

    @OptionGroup var location: LocationOptions

    func run() async throws {
      do {
        try await KeyAdministration.rotate(location.location)
        print("rotated; a running server takes the new key within 30 seconds")
      } catch { throw Failure.start(error) }
    }
  }
}
