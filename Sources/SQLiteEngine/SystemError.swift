import Glibc
import Stores

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

extension StoreError {
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

/// Runs system calls where a store's errors are expected.
func calling<Value>(_ body: () throws(SystemError) -> Value) throws(StoreError) -> Value {
  do { return try body() } catch { throw StoreError(error) }
}
