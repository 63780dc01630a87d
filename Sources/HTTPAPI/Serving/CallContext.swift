package import Hummingbird
package import NIOCore

/// What travels with a request through Hummingbird: its core context and who is at the other end.
package struct CallContext: RequestContext {
  /// Hummingbird's own part.
  package var coreContext: CoreRequestContextStorage
  /// The connection.
  package let channel: any Channel
  /// The peer's address; nil for a pipe, as in tests without a socket.
  package let remoteAddress: SocketAddress?

  /// Made by Hummingbird for each request.
  package init(source: ApplicationRequestContextSource) {
    coreContext = CoreRequestContextStorage(source: source)
    channel = source.channel
    remoteAddress = source.channel.remoteAddress
  }
}
