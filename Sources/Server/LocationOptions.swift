import ArgumentParser
import FoundationEssentials
import HotelBookmarks

/// The data directory without a flag.
enum DataDirectory {
  /// The directory of the environment, otherwise the default of `serve`.
  static let standard =
    ProcessInfo.processInfo.environment[SettingKey.data.environmentName] ?? Settings().data
}

/// The options of commands that work on stores.
struct LocationOptions: ParsableArguments {
  @Option(help: "The data directory; also HOTEL_BOOKMARKS_DATA.")
  var data = DataDirectory.standard
  @Option(
    help: "The URL of the stores' database; also HOTEL_BOOKMARKS_DATABASE. Default: none")
  var database: String?
  @Option(
    help: "A file with its password; also HOTEL_BOOKMARKS_DATABASE_PASSWORD_FILE. Default: none")
  var databasePasswordFile: String?

  var location: StorageLocation {
    let environment = ProcessInfo.processInfo.environment
    return StorageLocation(
      data: data, database: database ?? environment[SettingKey.database.environmentName],
      databasePasswordFile: databasePasswordFile
        ?? environment[SettingKey.databasePasswordFile.environmentName])
  }
}
