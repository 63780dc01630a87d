package import HummingbirdCore
package import Logging
package import NIOCore
import NIOHTTP1
package import NIOHTTPTypes

/// An HTTP/1 connection: what Hummingbird's own `HTTP1Channel` sets up, with this server's limits around it.
///
/// From the socket inwards: ``HeadClock``, the encoder and the parser, ``RequestCodec``, ``ExchangeGuard``,
/// ``ClientWatch``, Hummingbird's idle timer, and the task that serves one request after the other.
package struct PlainConnection: HTTPChannelHandler {
  package typealias Value = NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>

  /// What answers requests.
  package let responder: HTTPChannelHandler.Responder
  private let limits: ConnectionLimits
  private let admission: Admission
  private let crossOrigin: CrossOrigin
  private let isSecure: Bool

  /// - Parameter crossOrigin: which pages may read what is answered before a route is found.
  /// - Parameter isSecure: whether it runs over TLS.
  package init(
    responder: @escaping HTTPChannelHandler.Responder, limits: ConnectionLimits = .init(),
    admission: Admission, crossOrigin: CrossOrigin, isSecure: Bool = false
  ) {
    self.responder = responder
    self.limits = limits
    self.admission = admission
    self.crossOrigin = crossOrigin
    self.isSecure = isSecure
  }

  package func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
    channel.eventLoop.makeCompletedFuture {
      let pipeline = channel.pipeline.syncOperations
      let state = ConnectionState()
      try pipeline.addHandler(HeadClock(state, limits))
      var bounds = NIOHTTPDecoderLimitConfiguration()
      bounds.maxHeaderFieldSize = RequestLimits.headerBytes
      bounds.maxHeaderListSize = RequestLimits.headerBytes
      bounds.maxHeaderFieldCount = RequestLimits.headerFields
      try pipeline.configureHTTPServerPipeline(
        withPipeliningAssistance: false, withErrorHandling: false,
        withOutboundHeaderValidation: false, withEncoderConfiguration: .init(),
        withDecoderLimitConfiguration: bounds)
      try pipeline.addHandler(RequestCodec(state, isSecure: isSecure))
      try pipeline.addHandler(ExchangeGuard(limits, admission, crossOrigin, state))
      try pipeline.addHandler(ClientWatch())
      try pipeline.addHandler(
        HTTPConnectionStateHandler(
          idleTimeout: .seconds(RequestLimits.idleSeconds), logger: logger))
      return try NIOAsyncChannel(
        wrappingChannelSynchronously: channel,
        configuration: .init(isOutboundHalfClosureEnabled: true))
    }
  }

  package func handle(value: Value, logger: Logger) async {
    await handleHTTP(asyncChannel: value, logger: logger)
  }
}
