package import Hummingbird
package import Logging
package import NIOCore

/// What travels with a request: its connection and where it is logged.
package struct CallContext: InitializableFromSource {
  /// The log.
  package let logger: Logger
  /// The connection.
  package let channel: any Channel
  /// What the request holds; nil where nothing is accounted for, as in tests without a socket.
  private(set) var hold: RequestHold?

  /// Made for each request, by Hummingbird or for an HTTP/1 connection.
  package init(source: ApplicationRequestContextSource) {
    logger = source.logger
    channel = source.channel
  }

  /// The same for a request that holds something.
  func holding(_ hold: RequestHold?) -> CallContext {
    var context = self
    context.hold = hold
    return context
  }

  /// The peer's address; nil for a pipe, as in tests without a socket.
  var remoteAddress: SocketAddress? { channel.remoteAddress }
}
