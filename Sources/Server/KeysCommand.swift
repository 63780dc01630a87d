import ArgumentParser
import HotelBookmarks

/// Looks after the keys that tokens are signed with.
struct KeysCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "keys", abstract: "Look after the keys that tokens are signed with.",
    subcommands: [Rotate.self])

  /// Makes a new key the signing one.
  struct Rotate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Sign new tokens with a new key; tokens signed before stay good until they expire.")

    @Option(help: "The data directory; also HOTEL_BOOKMARKS_DATA.")
    var data = DataDirectory.standard

    func run() async throws {
      do {
        try await KeyAdministration.rotate(data: data)
        print("rotated; a running server takes the new key within 30 seconds")
      } catch { throw Failure.start(error) }
    }
  }
}
