import Accounts
import SQLiteEngine

/// The paths of files in the data directory besides the stores.
enum DataFiles {
  /// The keys that sign tokens.
  static func keys(in directory: String) -> String { directory + "/keys.json" }
  /// The cache of upstreams' answers. It may be deleted while no server runs.
  static func searchCache(in directory: String) -> String { directory + "/search-cache.sqlite" }
  /// The hash of the administrator's password, if the server has made the password.
  static func administrator(in directory: String) -> String { directory + "/administrator.json" }
  /// Backups that were started over HTTP. An operator may replace the directory by a link to another disk.
  static func backups(in directory: String) -> String { directory + "/backups" }
  /// The socket between the command line and a running server. Only its owner may use it.
  static func control(in directory: String) -> String { directory + "/control" }
  /// The socket over which the server's replications reach its own databases.
  static func replications(in directory: String) -> String { directory + "/replications" }

  /// The damage of files besides the stores, in a data directory or a backup.
  static func findings(in directory: String) -> [ScrubFinding] {
    let (keys, administrator) = (keys(in: directory), administrator(in: directory))
    return SecretTransfer.damagedFiles(keys: keys, administrator: administrator).map {
      ScrubFinding(
        file: $0 == keys ? "keys.json" : "administrator.json",
        reason: "the file is damaged: put that of a sound backup in its place")
    }
  }
}
