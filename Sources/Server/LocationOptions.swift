import ArgumentParser
import FoundationEssentials
import HotelBookmarks

/// The data directory without a flag.
enum DataDirectory {
  /// The directory of the environment, otherwise the default of `serve`.
  static let standard =
    ProcessInfo.processInfo.environment[SettingKey.data.environmentName] ?? Settings().data
}

/// The file with the database's password.
enum DatabasePassword {
  /// The file of the flag, otherwise that of the environment; nil for none.
  static func file(_ flag: String?) -> String? {
    flag ?? ProcessInfo.processInfo.environment[SettingKey.databasePasswordFile.environmentName]
  }
}

/// The options of commands that work on stores.
struct LocationOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The data directory; also HOTEL_BOOKMARKS_DATA. Default: \(DataDirectory.standard)"))
  var data: String?
  @Option(
    help: ArgumentHelp(
      "The URL of the stores' database; without --data also HOTEL_BOOKMARKS_DATABASE. Default: none"
    ))
  var database: String?
  @Option(
    help: "A file with its password; also HOTEL_BOOKMARKS_DATABASE_PASSWORD_FILE. Default: none")
  var databasePasswordFile: String?

  /// Where the stores are. A flag overrides the environment: with `--data` alone they are in that directory, or with the
  /// server that uses it.
  var location: StorageLocation {
    let environment = ProcessInfo.processInfo.environment
    let usual = data == nil ? environment[SettingKey.database.environmentName] : nil
    return StorageLocation(
      data: data ?? DataDirectory.standard, database: database ?? usual,
      databasePasswordFile: DatabasePassword.file(databasePasswordFile))
  }
}
