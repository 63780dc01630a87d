import Glibc

package enum StandardError {
  /// Writes bytes. Bytes that can't be written (a full disk, a closed pipe) are lost, because a log must not end the
  /// service. Each line takes one call of `write(2)`, so that lines stay whole.
  package static func write(_ bytes: [UInt8]) { write(bytes, to: STDERR_FILENO) }

  /// Writes bytes to another descriptor in the same way.
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

/// The process' standard output without the buffer and the lock of `print`: a write that blocks on an unread pipe must
/// not keep the process from ending.
package enum StandardOutput {
  /// Writes bytes; bytes that can't be written are lost.
  package static func write(_ bytes: [UInt8]) { StandardError.write(bytes, to: STDOUT_FILENO) }
}
