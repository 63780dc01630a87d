import Glibc
import JSON

/// One connection of the control socket, with lines in both directions. Only ``sendBlocking(_:)``, ``write(_:)`` and
/// ``readBlocking(_:)`` block.
struct ControlPeer: Sendable {
  /// How long a request, or a line that must arrive, may take: 5 seconds.
  private static let timeout = Duration.seconds(5)

  /// The connection's descriptor.
  let descriptor: Int32

  /// The requests that a server accepts.
  enum Request: Sendable, Equatable {
    /// Make a backup at an absolute path.
    case backup(to: String)
    /// Verify all stores.
    case verify
    /// Repair all stores.
    case repair
    /// Replace the damaged file of a store by its copy in a backup at an absolute path, or by one without documents.
    case replace(store: String, from: String?)
    /// Move all stores to a database.
    case move(to: String, password: String?)
    /// Manage users.
    case user(UserRequest)

    /// The line of the request.
    var line: [UInt8] {
      var writer = JSONWriter()
      writer.beginObject()
      switch self {
      case .backup(let path):
        writer.member("do", "backup")
        writer.member("to", path)
      case .verify: writer.member("do", "verify")
      case .repair: writer.member("do", "repair")
      case .replace(let store, let backup):
        writer.member("do", "replace")
        writer.member("store", store)
        if let backup { writer.member("from", backup) }
      case .move(let url, let password):
        writer.member("do", "move")
        writer.member("to", url)
        if let password { writer.member("password", password) }
      case .user(let request): request.write(to: &writer)
      }
      writer.endObject()
      return writer.bytes + [0x0A]
    }

    /// Reads a line; nil for an unknown request.
    init?(_ line: [UInt8]) {
      guard let root = try? ParsedJSON(line, limits: .small).root else { return nil }
      switch (root["do"]?.string, root["to"]?.string) {
      case ("backup"?, let path?) where path.utf8.first == UInt8(ascii: "/"):
        self = .backup(to: path)
      case ("move"?, let url?) where MoveEndpoint.isURL(url):
        self = .move(to: url, password: root["password"]?.string)
      case ("verify"?, nil): self = .verify
      case ("repair"?, nil): self = .repair
      case ("replace"?, nil):
        guard let store = root["store"]?.string else { return nil }
        self = .replace(store: store, from: root["from"]?.string)
      default:
        guard let request = UserRequest(root) else { return nil }
        self = .user(request)
      }
    }
  }

  /// Reads the request; nil for a connection that sends none in time.
  func request() async -> Request? {
    var line: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4_096)
    let end = ContinuousClock.now + Self.timeout
    while ContinuousClock.now < end, line.count <= ControlSocket.maximumRequest {
      let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
      if count > 0 {
        line += buffer.prefix(count)
        if line.last == 0x0A { return Request(line) }
      } else if count == 0 || errno != EAGAIN && errno != EINTR {
        return nil
      } else {
        guard (try? await Task.sleep(for: .milliseconds(10))) != nil else { return nil }
      }
    }
    return nil
  }

  /// Whether the client has gone.
  var isGone: Bool {
    var byte: UInt8 = 0
    let count = recv(descriptor, &byte, 1, Int32(MSG_DONTWAIT | MSG_PEEK))
    return count == 0 || count < 0 && errno != EAGAIN && errno != EINTR
  }

  /// Sends a line if the socket has space for it. Linux takes a write of less than half of a Unix socket's buffer (106
  /// KiB by default) as a whole or not at all (unix(7), `SO_SNDBUF`); lines are far shorter.
  /// - Returns: false if a later attempt may succeed.
  @discardableResult
  func offer(_ line: ControlLine) -> Bool {
    let bytes = line.bytes
    let flags = Int32(MSG_DONTWAIT | MSG_NOSIGNAL)
    let count = bytes.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, flags) }
    return count >= 0 || errno != EAGAIN && errno != EINTR
  }

  /// Sends a line, and waits for space for up to 5 seconds.
  func send(_ line: ControlLine) async {
    let end = ContinuousClock.now + Self.timeout
    while !offer(line), ContinuousClock.now < end {
      guard (try? await Task.sleep(for: .milliseconds(10))) != nil else { return }
    }
  }

  /// Sends a line, and waits for space for up to 5 seconds, on a thread that may block.
  func sendBlocking(_ line: ControlLine) {
    var writable = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    if !offer(line), poll(&writable, 1, 5_000) > 0 { offer(line) }
  }

  /// Sends bytes; blocks.
  /// - Returns: false if the other side has gone.
  func write(_ bytes: [UInt8]) -> Bool {
    bytes.withUnsafeBytes {
      Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) == $0.count
    }
  }

  /// Reads lines until the other side closes the connection; blocks.
  func readBlocking(_ take: (ControlLine) -> Void) {
    var rest: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4_096)
    while true {
      let count = recv(descriptor, &buffer, buffer.count, 0)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return }
      rest += buffer.prefix(count)
      while let end = rest.firstIndex(of: 0x0A) {
        if let line = ControlLine(Array(rest[...end])) { take(line) }
        rest.removeSubrange(...end)
      }
    }
  }

  /// Closes the connection.
  func close() { Glibc.close(descriptor) }
}
