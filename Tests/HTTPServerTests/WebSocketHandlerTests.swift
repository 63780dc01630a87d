import NIOCore
import NIOEmbedded
import NIOWebSocket
import Testing

@testable import HTTPServer

@Suite struct WebSocketHandlerTests {
  /// Regression: the connection ended right behind the server's close frame. Couchbase Lite 2.8 then overlooked the end, and
  /// a continuous replicator never came back.
  @Test(arguments: [true, false])
  func connectionEndsAfterTheAnswerToItsCloseFrame(isAnswered: Bool) throws {
    let channel = EmbeddedChannel()
    let handler = WebSocketHandler(WebSocketQueue(channel))
    try channel.pipeline.syncOperations.addHandler(handler)
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    let comeBack = WebSocketErrorCode(codeNumber: 4_001)
    WebSocketHandler.close(channel, comeBack, ByteBuffer(string: "Come back"))
    let sent = try #require(try channel.readOutbound(as: WebSocketFrame.self))
    #expect(sent.opcode == .connectionClose)
    #expect(sent.data == ByteBuffer(bytes: [0x0F, 0xA1] + Array("Come back".utf8)))
    // What was on its way.
    for opcode in [WebSocketOpcode.binary, .ping] {
      try channel.writeInbound(frame(opcode, ByteBuffer(string: "x")))
    }
    #expect(channel.isActive)
    if isAnswered {
      try channel.writeInbound(frame(.connectionClose, sent.data))
    } else {
      channel.embeddedEventLoop.advanceTime(by: .seconds(5))
    }
    #expect(!channel.isActive)
    #expect(try channel.readOutbound(as: WebSocketFrame.self) == nil)
  }

  /// Regression: a client that closed at the same time did not get what the server had written before.
  @Test func connectionOfTwoCloseFramesEndsWhenTheServersIsSent() throws {
    let channel = EmbeddedChannel()
    let slow = SlowNetwork()
    try channel.pipeline.syncOperations.addHandlers(slow, WebSocketHandler(WebSocketQueue(channel)))
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    channel.pipeline.syncOperations.write(NIOAny(frame(.binary, ByteBuffer())), promise: nil)
    WebSocketHandler.close(channel, WebSocketErrorCode(codeNumber: 4_001), ByteBuffer())
    try channel.writeInbound(frame(.connectionClose, ByteBuffer(bytes: [0x03, 0xE8])))
    #expect(channel.isActive)
    slow.isBusy = false
    channel.flush()
    #expect(!channel.isActive)
    let sent = try (0..<3).map { _ in try channel.readOutbound(as: WebSocketFrame.self)?.opcode }
    #expect(sent == [.binary, .connectionClose, nil])
  }

  /// Sends nothing while it is busy.
  private final class SlowNetwork: ChannelOutboundHandler {
    typealias OutboundIn = WebSocketFrame

    var isBusy = true

    func flush(context: ChannelHandlerContext) {
      if !isBusy { context.flush() }
    }
  }

  private func frame(_ opcode: WebSocketOpcode, _ data: ByteBuffer) -> WebSocketFrame {
    WebSocketFrame(fin: true, opcode: opcode, maskKey: [0, 0, 0, 0], data: data)
  }
}
