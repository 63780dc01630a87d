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
  static func reachable(_ path: String) -> String {
    guard path.utf8.count > MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1,
      let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
    else { return path }
    let directory = open(String(path[..<slash]), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    return directory < 0 ? path : "/proc/self/fd/\(directory)" + path[slash...]
  }

  /// Calls `body` with the address of a path. If the path is too long for an address, the address uses the descriptor
  /// of the path's directory. <https://man7.org/linux/man-pages/man7/unix.7.html>
  private static func withAddress(
    of path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Bool
  ) -> Bool {
    var address = sockaddr_un()
    let capacity = MemoryLayout.size(ofValue: address.sun_path) - 1
    guard path.utf8.count > capacity else { return withAddress(&address, Array(path.utf8), body) }
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return false }
    let directory = open(String(path[..<slash]), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard directory >= 0 else { return false }
    defer { close(directory) }
    let short = "/proc/self/fd/\(directory)" + path[slash...]
    guard short.utf8.count <= capacity else { return false }
    return withAddress(&address, Array(short.utf8), body)
  }

  private static func withAddress(
    _ address: inout sockaddr_un, _ path: [UInt8],
    _ body: (UnsafePointer<sockaddr>, socklen_t) -> Bool
  ) -> Bool {
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
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
