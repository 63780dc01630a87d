/// Where things are in the data directory beside the stores.
enum DataFiles {
  /// The keys that tokens are signed with.
  static func keys(in directory: String) -> String { directory + "/keys.json" }
  /// Answers of upstreams; may be removed while no server runs.
  static func searchCache(in directory: String) -> String { directory + "/search-cache.sqlite" }
  /// The hash of the administrator's password, where it was drawn here.
  static func administrator(in directory: String) -> String { directory + "/administrator.json" }
  /// The socket that the command line speaks to a running server by; only its owner may.
  static func control(in directory: String) -> String { directory + "/control" }
}
