import Glibc

/// The right to write the draft, among all processes; given up when nobody refers to it any more, and
/// by the kernel when the process dies.
final class ImportLock {
  private let file: Int32

  /// Takes the lock, without waiting.
  /// - Throws: `busy` if another import holds it; `unavailable`, `storageFull`.
  init(_ files: CatalogueFiles) throws(CatalogueError) {
    // The lock is on a file of its own: closing any descriptor of a database's file drops SQLite's
    // locks on it. <https://sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_>
    file = open(files.lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard file >= 0 else { throw CatalogueFiles.failure("open") }
    guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
      guard errno == EWOULDBLOCK else { throw CatalogueFiles.failure("flock") }
      throw CatalogueError(.busy, "Another import into the hotel catalogue is under way.")
    }
  }

  deinit {
    if file >= 0 { close(file) }
  }
}
