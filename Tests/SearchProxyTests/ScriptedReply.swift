/// A scripted server's reply to a request.
enum ScriptedReply: Sendable {
  /// Sends these bytes and ends the connection.
  case raw([UInt8])
  /// Sends these bytes, then nothing until the client disconnects.
  case stall([UInt8])
  /// Sends these bytes, then a space every few milliseconds until the client disconnects.
  case drip([UInt8])
  /// Sends these bytes, then spaces as fast as possible until the client disconnects.
  case flood([UInt8])

  /// JSON with status 200.
  static func json(_ body: String) -> ScriptedReply {
    .answer(200, ["content-type: application/json"], Array(body.utf8))
  }

  /// A status, field lines, and content with its length.
  static func answer(_ status: Int, _ fields: [String] = [], _ body: [UInt8] = []) -> ScriptedReply
  {
    .raw(head(status, fields + ["content-length: \(body.count)"]) + body)
  }

  /// A status and field lines. Without a length, the content ends with the connection.
  static func head(_ status: Int, _ fields: [String]) -> [UInt8] {
    let lines = ["HTTP/1.1 \(status) Scripted"] + fields + ["connection: close", "", ""]
    return Array(lines.joined(separator: "\r\n").utf8)
  }

  func perform(on socket: ScriptedSocket) {
    switch self {
    case .raw(let bytes):
      _ = socket.send(bytes)
    case .stall(let bytes):
      if socket.send(bytes) { _ = socket.waitForClose(milliseconds: -1) }
    case .drip(var bytes):
      while socket.send(bytes), !socket.waitForClose(milliseconds: 10) { bytes = [0x20] }
    case .flood(var bytes):
      while socket.send(bytes) { bytes = [UInt8](repeating: 0x20, count: 65_536) }
    }
  }
}
