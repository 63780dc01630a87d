import CSQLiteSystem

/// SQLite's layer over the operating system for files that one connection has to itself: the log's index is memory
/// that is there once it is touched, and writes that follow one another are one call of the system.
/// <https://sqlite.org/vfs.html>
enum ExclusiveFiles {
  /// What ``Connection/init(name:flags:system:)`` takes. An SQLite without the layer of a Unix, over which this one is
  /// laid, opens no file by it.
  static let name: String = {
    // Settings come before anything else that SQLite is asked.
    _ = CachedPages.isAvailable
    _ = csqlite_install_exclusive_files()
    return CSQLITE_EXCLUSIVE_FILES
  }()
}
