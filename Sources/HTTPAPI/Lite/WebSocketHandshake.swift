import Crypto
import FoundationEssentials
import HTTPTypes
import Hummingbird

/// The request that changes a connection to the WebSocket protocol.
///
/// Source: RFC 6455, section 4.2.
struct WebSocketHandshake: Sendable {
  /// What the server appends to a client's key.
  private static let suffix = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
  private static let version = "13"

  /// The names of protocols that the client offers, in its order.
  let protocols: [String]
  private let key: String

  /// - Throws: ``Problem`` 426 for a request that is no such one, and over HTTP/2, which has another form of it; 400 for one
  ///   with a body, whose bytes would be taken for frames.
  init(_ call: Call) throws(Problem) {
    guard call.request.method == .get,
      Self.list(call[.upgrade]?.lowercased()).contains("websocket"),
      Self.list(call[.connection]?.lowercased()).contains("upgrade"),
      call[.secWebSocketVersion]?.trimmingSpaces == Self.version,
      let key = call[.secWebSocketKey]?.trimmingSpaces, Data(base64Encoded: key)?.count == 16
    else {
      throw Problem(
        .named(426), "upgrade_required", "This is for WebSockets (RFC 6455) over HTTP/1.1",
        headers: [
          .upgrade: "websocket", .connection: "Upgrade", .secWebSocketVersion: Self.version,
        ])
    }
    guard call[.contentLength] ?? "0" == "0", call[.transferEncoding] == nil else {
      throw Problem.badRequest("A request that opens a WebSocket has no body")
    }
    self.key = key
    protocols = Self.protocols(call)
  }

  /// The names of protocols that a request offers.
  static func protocols(_ call: Call) -> [String] { list(call[.secWebSocketProtocol]) }

  /// The head of the answer.
  func fields(_ name: String) -> HTTPFields {
    let digest = Insecure.SHA1.hash(data: Array((key + Self.suffix).utf8))
    return [
      .upgrade: "websocket", .connection: "Upgrade", .secWebSocketProtocol: name,
      .secWebSocketAccept: Data(digest).base64EncodedString(),
    ]
  }

  private static func list(_ field: String?) -> [String] {
    (field ?? "").split(separator: ",").map { $0.trimmingSpaces }
  }
}
