package import NIOCore

/// Knows whether a connection's client has closed its side, and tells whoever waits for that at once: an
/// answer that has nothing to write for a minute would notice after that minute. A place in every
/// connection's pipeline.
///
/// A client that closes only its own half and goes on reading counts as gone, as it does to Hummingbird's
/// own close handler. All but ``tell(_:_:)`` runs on the connection's event loop.
package final class ClientWatch: ChannelInboundHandler, RemovableChannelHandler {
  package typealias InboundIn = NIOAny

  private var isGone = false
  private var leaving: (@Sendable () -> Void)?

  /// A watch over a connection that is open.
  package init() {}

  package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if let event = event as? ChannelEvent, event == .inputClosed { leave() }
    context.fireUserInboundEventTriggered(event)
  }

  package func channelInactive(context: ChannelHandlerContext) {
    leave()
    context.fireChannelInactive()
  }

  private func leave() {
    isGone = true
    leaving?()
    leaving = nil
  }

  /// Runs a closure once, soon, when the client has gone; at once if it has already. The next such wish on the
  /// connection replaces this one. Does nothing on a connection without a watch.
  package static func tell(_ channel: any Channel, _ leaving: @escaping @Sendable () -> Void) {
    channel.eventLoop.execute {
      guard let watch = try? channel.pipeline.syncOperations.handler(type: ClientWatch.self)
      else { return }
      if watch.isGone { leaving() } else { watch.leaving = leaving }
    }
  }
}
