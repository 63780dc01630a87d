import JSON

/// Sends requests to a running server.
enum ControlClient {
  /// Sends a request to the server that uses a data directory. It blocks.
  /// - Parameter take: receives each line, including the last.
  /// - Returns: the last line; nil when no server listens there.
  static func ask(
    _ request: ControlPeer.Request, in directory: String,
    _ take: @Sendable (ControlLine) -> Void
  ) -> ControlLine? {
    guard let descriptor = ControlSocket.connect(to: DataFiles.control(in: directory)) else {
      return nil
    }
    let peer = ControlPeer(descriptor: descriptor)
    defer { peer.close() }
    var last = ControlLine.failure("The server ended before it was done")
    guard peer.write(request.line) else { return last }
    peer.readBlocking { line in
      take(line)
      switch line {
      case .result, .failure: last = line
      case .progress, .finding, .text: break
      }
    }
    return last
  }
}

/// A line of a server's reply to a request.
enum ControlLine: Sendable, Equatable {
  /// The progress, in stores.
  case progress(done: Int, of: Int)
  /// Damage that was found.
  case finding(file: String, reason: String)
  /// A line of output.
  case text(String)
  /// The request is done. This is the last line.
  case result(message: String, isDamaged: Bool)
  /// The request has failed, perhaps because something has to be configured first. This is the last line.
  case failure(String, isConfiguration: Bool = false)

  /// The line, with its line break.
  var bytes: [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    switch self {
    case .progress(let done, let total):
      writer.member("done", done)
      writer.member("of", total)
    case .finding(let file, let reason):
      writer.member("file", file)
      writer.member("finding", reason)
    case .result(let message, let isDamaged):
      writer.member("result", message)
      writer.member("damaged", isDamaged)
    case .text(let line): writer.member("text", line)
    case .failure(let reason, let isConfiguration):
      writer.member("failure", reason)
      if isConfiguration { writer.member("configuration", true) }
    }
    writer.endObject()
    return writer.bytes + [0x0A]
  }

  /// Reads a line; nil for an unknown one.
  init?(_ line: [UInt8]) {
    guard let root = try? ParsedJSON(line, limits: .small).root else { return nil }
    if let done = root["done"]?.int, let total = root["of"]?.int {
      self = .progress(done: done, of: total)
    } else if let file = root["file"]?.string, let reason = root["finding"]?.string {
      self = .finding(file: file, reason: reason)
    } else if let message = root["result"]?.string, let isDamaged = root["damaged"]?.bool {
      self = .result(message: message, isDamaged: isDamaged)
    } else if let line = root["text"]?.string {
      self = .text(line)
    } else if let reason = root["failure"]?.string {
      self = .failure(reason, isConfiguration: root["configuration"]?.bool ?? false)
    } else {
      return nil
    }
  }
}
