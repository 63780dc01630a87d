import Lanes
import SQLite

/// Asks a running server for something, on a lane, as that blocks.
actor ControlClient {
  private let lane: Lane

  nonisolated var unownedExecutor: UnownedSerialExecutor { lane.asUnownedSerialExecutor() }

  /// A client on a lane.
  init(_ lane: Lane) { self.lane = lane }

  /// Asks the server that uses a data directory.
  /// - Parameter take: takes each line, the last one too.
  /// - Returns: the last line; nil when no server listens there.
  func ask(
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
