import FoundationEssentials
import HotelBookmarks

/// Where the data is when no flag says so.
enum DataDirectory {
  /// What the environment names, else what `serve` takes by default.
  static let standard =
    ProcessInfo.processInfo.environment[SettingKey.data.environmentName] ?? Settings().data
}
