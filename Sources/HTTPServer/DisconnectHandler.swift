package import NIOCore

/// Detects when the client closes its side of a connection, and runs the registered closure at once. Without it, a feed
/// that writes once a minute would notice after a minute. Each connection's pipeline has one.
///
/// A client that closes only its sending side counts as gone, although it may still read; Hummingbird's own close
/// handler does the same. Everything but ``onDisconnect(of:_:)`` runs on the connection's event loop.
package final class DisconnectHandler: ChannelInboundHandler, RemovableChannelHandler {
  package typealias InboundIn = NIOAny

  private var isGone = false
  private var action: (@Sendable () -> Void)?

  package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if let event = event as? ChannelEvent, event == .inputClosed { noteDisconnect() }
    context.fireUserInboundEventTriggered(event)
  }

  package func channelInactive(context: ChannelHandlerContext) {
    noteDisconnect()
    context.fireChannelInactive()
  }

  private func noteDisconnect() {
    isGone = true
    action?()
    action = nil
  }

  /// Runs a closure once when the client has gone, or soon if it has already. A later call for the same connection
  /// replaces the closure. The call does nothing for a connection without this handler.
  package static func onDisconnect(
    of channel: any Channel, _ action: @escaping @Sendable () -> Void
  ) {
    channel.eventLoop.execute {
      guard let handler = try? channel.pipeline.syncOperations.handler(type: DisconnectHandler.self)
      else { return }
      if handler.isGone { action() } else { handler.action = action }
    }
  }
}
