package import NIOCore

/// Notices when the client closes its side of a connection, and tells at once those who wait for that. Without it, a
/// feed that writes once a minute would notice after a minute. Each connection's pipeline has one.
///
/// A client that closes only its sending side counts as gone, although it may still read; Hummingbird's own close
/// handler does the same. Everything but ``tell(_:_:)`` runs on the connection's event loop.
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

  /// Runs a closure once when the client has gone, or soon if it has already. A later call for the same connection
  /// replaces the closure. The call does nothing for a connection without a watch.
  package static func tell(_ channel: any Channel, _ leaving: @escaping @Sendable () -> Void) {
    channel.eventLoop.execute {
      guard let watch = try? channel.pipeline.syncOperations.handler(type: ClientWatch.self)
      else { return }
      if watch.isGone { leaving() } else { watch.leaving = leaving }
    }
  }
}
