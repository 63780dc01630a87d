import CSQLiteSystem

/// Reads that never wait for the disk: for threads that must not be blocked.
///
/// SQLite reads through a function of ours, put in the place of `pread` for the whole process, as there is
/// one such table in SQLite. On a thread inside ``only(_:)`` it asks the system for what is in memory alone
/// (`RWF_NOWAIT`, `preadv2(2)`); everywhere else it is `pread`.
package enum CachedPages {
  /// Whether this SQLite can do that. Asking installs the function and makes the settings that must come before
  /// SQLite is used; each connection asks before its file is opened.
  static let isAvailable: Bool = {
    // Where something else in the process has used SQLite before, its own settings stay and do no harm.
    _ = csqlite_configure()
    return csqlite_install_reads() != 0
  }()

  /// Runs reads of a database on this thread as long as every page is in memory.
  /// - Parameter body: reads only, in no open transaction. What it makes of a page that was missing (an
  ///   error of reading) is not looked at.
  /// - Returns: nil when a page was missing: nothing has happened then, and the read is to be done where it
  ///   may block.
  package static func only<Value>(_ body: () -> Value) -> Value? {
    guard isAvailable else { return nil }
    csqlite_begin_cached_reads()
    let value = body()
    return csqlite_end_cached_reads() == 0 ? value : nil
  }
}

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
