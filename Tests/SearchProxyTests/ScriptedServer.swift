import Foundation
import Glibc
import Synchronization

/// A server on a free port of 127.0.0.1 that answers as a test specifies, byte for byte, so that it can be an upstream
/// with any fault. Each connection gets one answer.
final class ScriptedServer: Sendable {
  /// Returns the server's reply to one request.
  typealias Script = @Sendable (SeenRequest) -> ScriptedReply

  private struct State {
    var requests: [SeenRequest] = []
    var connections: Set<Int32> = []
    var isStopped = false
  }

  let port: UInt16
  private let listener: Int32
  private let script: Script
  private let state = Mutex(State())

  init(_ script: @escaping Script) throws {
    (listener, port) = try ScriptedSocket.listen()
    self.script = script
    Thread.detachNewThread { [self] in acceptAll() }
  }

  /// The requests so far, in the order in which they came.
  var requests: [SeenRequest] { state.withLock { $0.requests } }

  /// Closes all connections and the listening socket.
  func stop() {
    state.withLock { state in
      state.isStopped = true
      for connection in state.connections { _ = shutdown(connection, Int32(SHUT_RDWR)) }
    }
    _ = shutdown(listener, Int32(SHUT_RDWR))
  }

  private func acceptAll() {
    while true {
      let connection = accept(listener, nil, nil)
      guard connection >= 0 else { break }
      let isWanted = state.withLock { state in
        if !state.isStopped { state.connections.insert(connection) }
        return !state.isStopped
      }
      guard isWanted else {
        close(connection)
        break
      }
      Thread.detachNewThread { [self] in serve(connection) }
    }
    close(listener)
  }

  private func serve(_ connection: Int32) {
    let socket = ScriptedSocket(descriptor: connection)
    if let request = socket.readRequest() {
      state.withLock { $0.requests.append(request) }
      script(request).perform(on: socket)
    }
    state.withLock { state in
      state.connections.remove(connection)
      close(connection)
    }
  }
}
