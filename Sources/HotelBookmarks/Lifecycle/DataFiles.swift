/// Where things are in the data directory beside the stores.
enum DataFiles {
  /// The keys that tokens are signed with.
  static func keys(in directory: String) -> String { directory + "/keys.json" }
}
