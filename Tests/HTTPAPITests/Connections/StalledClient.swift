import NIOCore

/// A client's side that takes nothing until it is let: what is written before is not on its way.
final class StalledClient: ChannelOutboundHandler {
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private(set) var waiting: [(bytes: Int, taken: EventLoopPromise<Void>?)] = []

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    waiting.append((unwrapOutboundIn(data).readableBytes, promise))
  }

  /// Completes the first writes, up to `bytes` bytes.
  func take(_ bytes: Int) {
    var taken = 0
    while let first = waiting.first, taken + first.bytes <= bytes {
      taken += first.bytes
      waiting.removeFirst()
      first.taken?.succeed()
    }
  }

  /// Fails the remaining writes, as the end of a connection does.
  func fail() {
    let left = waiting
    waiting = []
    for (_, promise) in left { promise?.fail(ChannelError.ioOnClosedChannel) }
  }
}
