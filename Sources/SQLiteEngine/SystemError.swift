import Glibc

/// A system call that failed.
struct SystemError: Error, CustomDebugStringConvertible {
  /// The call's name.
  let call: String
  /// The path of the file.
  let path: String
  /// The call's `errno`.
  let number: Int32

  /// Creates an error with the calling thread's current `errno`.
  init(_ call: String, _ path: String) {
    self.call = call
    self.path = path
    number = errno
  }

  /// Whether the file or directory does not exist.
  var isAbsent: Bool { number == ENOENT }

  /// The system's words for the error.
  var cause: String { String(cString: strerror(number)) }

  var debugDescription: String { "\(call)(\(path)): \(cause)" }
}
