import CSQLite

/// Database reads that never wait for the disk, for threads that must not block.
///
/// SQLite reads through a function of this service, which replaces `pread` for the whole process, because SQLite has
/// one table of system calls. On a thread inside ``withoutDiskReads(_:)`` the function reads only what is in memory
/// (`RWF_NOWAIT`, `preadv2(2)`); on other threads it is `pread`.
package enum CachedPages {
  /// Whether this SQLite supports that. The first access installs the function and makes the settings that must precede
  /// the first use of SQLite; each connection accesses it before it opens its file.
  static let isAvailable: Bool = {
    // When other code in the process has used SQLite before, its settings stay; this does no harm.
    _ = csqlite_configure()
    return csqlite_install_reads() != 0
  }()

  /// Runs reads of a database on this thread as long as every page is in memory.
  /// - Parameter body: only reads, outside of a transaction. Its result is ignored when a page was missing, also when
  ///   it is a read error.
  /// - Returns: nil when a page was missing: the read has had no effect and must be repeated on a thread that may
  ///   block.
  package static func withoutDiskReads<Value>(_ body: () -> Value) -> Value? {
    guard isAvailable else { return nil }
    csqlite_begin_cached_reads()
    let value = body()
    return csqlite_end_cached_reads() == 0 ? value : nil
  }
}

/// SQLite's layer over the operating system (VFS) for files that one connection uses alone. The log's index is memory
/// of the process, which the system provides when it is first touched, and consecutive writes become one system call.
/// <https://sqlite.org/vfs.html>
enum ExclusiveFiles {
  /// The name for ``Connection/init(name:flags:system:)``. It is an unknown VFS, so that no file opens, when this
  /// SQLite has no VFS named `unix`, on which this one is built.
  static let name: String = {
    // The settings must precede every other use of SQLite.
    _ = CachedPages.isAvailable
    _ = csqlite_install_exclusive_files()
    return CSQLITE_EXCLUSIVE_FILES
  }()
}
