/// Long work on stores in files that the administrator starts.
package enum StoreWork: Sendable {
  /// A backup at an absolute path, which has to be absent or an empty directory; nil for the directory of backups in the
  /// data directory, under the time's name.
  case backup(to: String?)
  /// Looks through all stores for damage.
  case verification
  /// Repairs all stores.
  case repair
  /// Replaces the damaged file of a store by its copy in a backup at an absolute path; nil for one without documents.
  case replacement(of: String, from: String?)

  /// The kind of its job.
  var kind: AdministrationJobs.Kind {
    switch self {
    case .backup: .backup
    case .verification: .verification
    case .repair: .repair
    case .replacement: .replacement
    }
  }
}
