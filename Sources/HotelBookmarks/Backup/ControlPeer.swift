import Glibc
import JSON

/// One connection of the control socket: lines in, lines out. No call blocks but ``sendBlocking(_:)``.
struct ControlPeer: Sendable {
  /// How long a request, or a line that must arrive, may take: 5 seconds.
  private static let patience = Duration.seconds(5)

  /// The connection's descriptor.
  let descriptor: Int32

  /// What a server is asked for.
  enum Request: Sendable, Equatable {
    /// A backup at an absolute path.
    case backup(to: String)
    /// A look through all stores.
    case verify
    /// Mending what is damaged in any store.
    case repair
    /// Something about users.
    case user(UserRequest)

    /// The line that asks for it.
    var line: [UInt8] {
      var writer = JSONWriter()
      writer.beginObject()
      switch self {
      case .backup(let path):
        writer.member("do", "backup")
        writer.member("to", path)
      case .verify: writer.member("do", "verify")
      case .repair: writer.member("do", "repair")
      case .user(let request): request.write(to: &writer)
      }
      writer.endObject()
      return writer.bytes + [0x0A]
    }

    /// Reads a line; nil for any other.
    init?(_ line: [UInt8]) {
      guard let root = try? ParsedJSON(line, limits: .small).root else { return nil }
      switch (root["do"]?.string, root["to"]?.string) {
      case ("backup"?, let path?) where path.utf8.first == UInt8(ascii: "/"):
        self = .backup(to: path)
      case ("verify"?, nil): self = .verify
      case ("repair"?, nil): self = .repair
      default:
        guard let request = UserRequest(root) else { return nil }
        self = .user(request)
      }
    }
  }

  /// The request; nil for a connection that sends none in time.
  func request() async -> Request? {
    var line: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4_096)
    let end = ContinuousClock.now + Self.patience
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

  /// Whether whoever asked has left.
  var isGone: Bool {
    var byte: UInt8 = 0
    let count = recv(descriptor, &byte, 1, Int32(MSG_DONTWAIT | MSG_PEEK))
    return count == 0 || count < 0 && errno != EAGAIN && errno != EINTR
  }

  /// Sends a line if there is room for it.
  /// - Returns: whether it was sent or never can be.
  @discardableResult
  func offer(_ line: ControlLine) -> Bool {
    let bytes = line.bytes
    let flags = Int32(MSG_DONTWAIT | MSG_NOSIGNAL)
    let count = bytes.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, flags) }
    return count >= 0 || errno != EAGAIN && errno != EINTR
  }

  /// Sends a line, waiting a while for room.
  func send(_ line: ControlLine) async {
    let end = ContinuousClock.now + Self.patience
    while !offer(line), ContinuousClock.now < end {
      guard (try? await Task.sleep(for: .milliseconds(10))) != nil else { return }
    }
  }

  /// Sends a line, waiting a while for room, on a thread that may wait.
  func sendBlocking(_ line: ControlLine) {
    var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    if !offer(line), poll(&room, 1, 5_000) > 0 { offer(line) }
  }

  /// Sends bytes; blocks.
  /// - Returns: false when the other side has left.
  func write(_ bytes: [UInt8]) -> Bool {
    bytes.withUnsafeBytes {
      Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) == $0.count
    }
  }

  /// Reads lines until the other side is done; blocks.
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

  /// Ends the connection.
  func close() { Glibc.close(descriptor) }
}
