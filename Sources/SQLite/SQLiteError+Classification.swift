import CSQLite
import Glibc

extension SQLiteError {
  /// Whether the file itself is bad, so that repeating the call cannot help.
  package var isDamage: Bool {
    switch code {
    case .corrupt, .notADatabase: true
    default: false
    }
  }

  /// Whether there is no room left to write.
  ///
  /// SQLite answers `SQLITE_FULL` for `ENOSPC` while it writes, but an I/O error for a used-up
  /// quota, for a file at the limit on its size and for the file of the shared log index; the
  /// `errno` says so.
  package var isStorageFull: Bool {
    switch code {
    case .full: true
    case .ioError, .cantOpen: [ENOSPC, EDQUOT, EFBIG].contains(systemErrno)
    default: false
    }
  }

  /// Whether the file may be sound but cannot be used now: locked, unreadable, out of
  /// descriptors or memory, or on storage that takes no writes. Full storage is not among these.
  package var isUnavailable: Bool {
    switch code {
    case .busy, .locked, .readOnly: true
    case .ioError, .cantOpen: !isStorageFull
    case .other: extendedCode & 0xff == SQLITE_NOMEM
    default: false
    }
  }
}
