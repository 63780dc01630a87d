import Glibc

/// A socket in the data directory over which a running server serves its routes to the operators of its machine.
///
/// The file has mode 0600 in a directory of the owner's, so only those who may read the data can connect.
enum ControlSocket {
  /// Creates the socket. It replaces a socket of an earlier process.
  /// - Returns: the descriptor; nil with the call that failed.
  static func bind(to path: String) -> (descriptor: Int32?, failure: String) {
    unlink(path)
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return (nil, failure("socket")) }
    let isBound = withAddress(of: path) { Glibc.bind(descriptor, $0, $1) == 0 }
    // No client can connect before the server listens, so the mode is right for the first connection already.
    guard isBound, chmod(path, 0o600) == 0 else {
      let message = failure("bind")
      close(descriptor)
      unlink(path)
      return (nil, message)
    }
    return (descriptor, "")
  }

  /// Connects to a server.
  /// - Returns: the descriptor; nil when no server listens there.
  static func connect(to path: String) -> Int32? {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return nil }
    guard withAddress(of: path, { Glibc.connect(descriptor, $0, $1) == 0 }) else {
      close(descriptor)
      return nil
    }
    return descriptor
  }

  /// The path of a socket that any client can connect to: the path itself, or one by the descriptor of its directory, which
  /// then stays open.
  static func reachable(_ path: String) -> String { shortened(path).path }

  /// The path itself, or for one that is too long for an address, a path by the descriptor of its directory.
  /// <https://man7.org/linux/man-pages/man7/unix.7.html>
  private static func shortened(_ path: String) -> (path: String, directory: Int32?) {
    guard path.utf8.count >= MemoryLayout.size(ofValue: sockaddr_un().sun_path),
      let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
    else { return (path, nil) }
    let directory = open(String(path[..<slash]), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    return directory < 0 ? (path, nil) : ("/proc/self/fd/\(directory)" + path[slash...], directory)
  }

  /// Calls `body` with the address of a path; false if it has none.
  private static func withAddress(
    of path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Bool
  ) -> Bool {
    let (path, directory) = shortened(path)
    defer { if let directory { close(directory) } }
    var address = sockaddr_un()
    guard path.utf8.count < MemoryLayout.size(ofValue: address.sun_path) else { return false }
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    return withUnsafePointer(to: address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }

  private static func failure(_ call: String) -> String {
    "\(call): \(String(cString: strerror(errno)))"
  }
}
