import Glibc

/// The process' standard output, without the buffer and the lock that `print` has: a write that blocks, since
/// nobody reads the pipe, must not keep the process from ending.
package enum StandardOutput {
  /// Writes bytes; what can't be written is given up.
  package static func write(_ bytes: [UInt8]) {
    StandardError.write(bytes, to: STDOUT_FILENO)
  }
}
