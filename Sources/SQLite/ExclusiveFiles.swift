import CSQLite

/// SQLite's layer over the operating system (VFS) for files that one connection uses alone. The log's index is memory
/// of the process, which the system provides when it is first touched, consecutive writes become one system call, and
/// reads need not wait for the disk (``Connection/withoutDiskReads(_:)``).
/// <https://sqlite.org/vfs.html>
enum ExclusiveFiles {
  /// The name for ``Connection/init(name:flags:system:)``. It is an unknown VFS, so that no file opens, when this
  /// SQLite has no VFS named `unix`, on which this one is built.
  static let name: String = {
    Connection.configure
    _ = csqlite_install_exclusive_files()
    return CSQLITE_EXCLUSIVE_FILES
  }()
}

extension Connection {
  /// Makes the settings of SQLite that must precede its first use. When other code in the process has used SQLite before,
  /// its settings stay; this does no harm.
  static let configure: Void = { _ = csqlite_configure() }()

  /// Reads as long as every page is in the system's memory, for threads that must not wait for the disk
  /// (`RWF_NOWAIT`, `preadv2(2)`).
  /// - Parameter body: only reads, outside of a transaction. Its result is ignored when a page was missing, also when
  ///   it is a read error.
  /// - Returns: nil when a page was missing, and for a connection that does not use its file alone: the read has had no
  ///   effect and must be repeated on a thread that may block.
  package func withoutDiskReads<Value>(_ body: () -> Value) -> Value? {
    guard let handle, csqlite_begin_cached_reads(handle) != 0 else { return nil }
    let value = body()
    return csqlite_end_cached_reads(handle) == 0 ? value : nil
  }
}
