import Glibc
import SQLite
import StoreRecords
import Stores

extension ServiceError {
  /// What a failed call of SQLite means for a store.
  ///
  /// "Can't open" is never "absent": it is also what SQLite says when the process is out of descriptors
  /// (<https://sqlite.org/rescode.html#cantopen>).
  init(_ error: SQLiteError) {
    let detail = error.debugDescription
    if error.isDamage {
      self = .damaged(detail)
    } else if error.isFailedSync {
      self.init(.storage, "The storage could not be read or written", detail: detail)
    } else if error.isStorageFull {
      self.init(.storageFull, "There is no room left to store this", detail: detail)
    } else {
      switch error.code {
      case .readOnly:
        self.init(.readOnly, "The storage takes no writes at present", detail: detail)
      case .cantOpen, .busy, .locked:
        self.init(.unavailable, "The database can't be opened at present", detail: detail)
      // Only an index that disagrees with its table can refuse what the engine writes.
      case .constraint:
        self = .damaged(detail)
      // The SQL is constant: if it fails as such, the file's tables are not what this version wrote.
      case .other where error.extendedCode & 0xFF == 1:
        self = .damaged(detail)
      default:
        self.init(.storage, "The storage could not be read or written", detail: detail)
      }
    }
  }
}

extension SQLiteError {
  /// Whether an fsync failed: whatever its reason, even a full disk, what is on the disk is in doubt
  /// (`SQLITE_IOERR_FSYNC` and `SQLITE_IOERR_DIR_FSYNC`, <https://sqlite.org/rescode.html>).
  fileprivate var isFailedSync: Bool { extendedCode == 1_034 || extendedCode == 1_290 }
}

/// A call of the operating system that failed.
struct SystemError: Error, CustomDebugStringConvertible {
  /// The call's name.
  let call: String
  /// The file that it was about.
  let path: String
  /// The call's `errno`.
  let number: Int32

  /// The latest failure of the calling thread.
  init(_ call: String, _ path: String) {
    self.call = call
    self.path = path
    number = errno
  }

  /// Whether there is no file or directory of that name.
  var isAbsent: Bool { number == ENOENT }

  var debugDescription: String { "\(call)(\(path)): \(String(cString: strerror(number)))" }
}

extension ServiceError {
  /// What a failed system call means for a store: never that the store is absent.
  init(_ error: SystemError) {
    let detail = error.debugDescription
    switch error.number {
    case ENOSPC, EDQUOT, EFBIG:
      self.init(.storageFull, "There is no room left to store this", detail: detail)
    case EROFS:
      self.init(.readOnly, "The storage takes no writes at present", detail: detail)
    case EIO:
      self.init(.storage, "The storage could not be read or written", detail: detail)
    default:
      self.init(.unavailable, "The database can't be opened at present", detail: detail)
    }
  }
}

extension ServiceError {
  /// What an error means to the engine's callers: SQLite's and the system's become the service's, what a rule or a
  /// query threw stays what it is.
  static func translated(_ error: any Error) -> any Error {
    switch error {
    case let error as SQLiteError: ServiceError(error)
    case let error as SystemError: ServiceError(error)
    default: error
    }
  }

  /// What an error of the engine's own work is.
  init(engine error: any Error) {
    let error = Self.translated(error)
    self =
      ServiceError(error)
      ?? ServiceError(
        .storage, "The storage could not be read or written", detail: String(reflecting: error))
  }
}

/// Does what a port promises, and throws no errors but those that its callers know.
func translating<Value>(_ work: () throws -> Value) throws -> Value {
  do { return try work() } catch { throw ServiceError.translated(error) }
}

/// Does what a port promises, and throws no errors but those that its callers know.
nonisolated(nonsending) func translating<Value>(
  _ work: () async throws -> Value
) async throws -> Value {
  do { return try await work() } catch { throw ServiceError.translated(error) }
}
