import Glibc

/// The process' standard error.
package enum StandardError {
  /// Writes bytes; what can't be written (a full disk, a closed pipe) is given up, for a log must not end
  /// the service. One call of `write(2)` for a line, so that lines stay whole.
  package static func write(_ bytes: [UInt8]) { write(bytes, to: STDERR_FILENO) }

  /// Writes bytes in the same way to another descriptor.
  static func write(_ bytes: [UInt8], to descriptor: Int32) {
    bytes.withUnsafeBytes { buffer in
      var rest = buffer[...]
      while !rest.isEmpty {
        let count = Glibc.write(
          descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
        if count > 0 {
          rest = rest.dropFirst(count)
        } else if count < 0, errno == EINTR {
          continue
        } else {
          return
        }
      }
    }
  }
}

/// The process' standard output, without the buffer and the lock that `print` has: a write that blocks, since
/// nobody reads the pipe, must not keep the process from ending.
package enum StandardOutput {
  /// Writes bytes; what can't be written is given up.
  package static func write(_ bytes: [UInt8]) {
    StandardError.write(bytes, to: STDOUT_FILENO)
  }
}
