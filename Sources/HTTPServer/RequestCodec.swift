package import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1

/// Turns the parser's output into requests, and answers into the encoder's input. It sees a request as the client sent
/// it: with its version, its target and each of its `Host` fields.
///
/// Source: RFC 9112, sections 3.2 (target and Host), 6.1 (Transfer-Encoding), 9.3 and 9.6 (the last request).
final class RequestCodec: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPRequestPart
  typealias OutboundIn = HTTPResponsePart
  typealias OutboundOut = HTTPServerResponsePart

  private let state: ConnectionState
  private let scheme: String

  init(_ state: ConnectionState, isSecure: Bool) {
    self.state = state
    scheme = isSecure ? "https" : "http"
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard state.failure == nil else { return }
    switch unwrapInboundIn(data) {
    case .head(let head):
      state.marks &+= 1
      state.isInBody = true
      state.isOld = head.version.minor == 0
      state.isLast = state.isOld || !head.isKeepAlive || head.method == .CONNECT
      guard let request = request(head) else { return fail(.invalidHeaderToken, context) }
      context.fireChannelRead(wrapInboundOut(.head(request)))
    case .body(let bytes): context.fireChannelRead(wrapInboundOut(.body(bytes)))
    case .end:
      state.marks &+= 1
      state.isInBody = false
      // The server uses no trailers.
      context.fireChannelRead(wrapInboundOut(.end(nil)))
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    if let error = error as? HTTPParserError, state.failure == nil { state.failure = error }
    context.fireErrorCaught(error)
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    switch unwrapOutboundIn(data) {
    case .head(let response):
      var head = HTTPResponseHead(response)
      // The encoder must not send chunks to an HTTP/1.0 client.
      if state.answersOld { head.version = .http1_0 }
      context.write(wrapOutboundOut(.head(head)), promise: promise)
    case .body(let bytes):
      context.write(wrapOutboundOut(.body(.byteBuffer(bytes))), promise: promise)
    case .end(let trailers):
      context.write(wrapOutboundOut(.end(trailers.map { HTTPHeaders($0) })), promise: promise)
    }
  }

  private func fail(_ failure: HTTPParserError, _ context: ChannelHandlerContext) {
    state.failure = failure
    state.refusal = .malformed
    context.fireErrorCaught(failure)
  }

  /// Makes a request from a parsed head.
  /// - Returns: nil for an unknown method, and for HTTP/1.0 with `Transfer-Encoding`: the length of its body is not
  ///   reliable.
  private func request(_ head: HTTPRequestHead) -> HTTPRequest? {
    guard let method = try? HTTPRequest.Method(head.method) else { return nil }
    var fields = HTTPFields()
    fields.reserveCapacity(head.headers.count)
    var host: String?
    for (name, value) in head.headers {
      if Self.matches(name, "host") {
        // Several Host fields are joined by a comma. No host name contains one, so such a request is never served.
        host = host.map { $0 + "," + value } ?? value
      } else if let name = HTTPField.Name(name) {
        if state.isOld, name == .transferEncoding { return nil }
        if Self.matches(name.rawName, "upgrade") {
          // The parser reads nothing after a request that asks for another protocol.
          state.isLast = true
          // HTTP/1.0 has no such request (RFC 9110, section 7.8).
          if state.isOld { continue }
        }
        fields.append(HTTPField(name: name, value: value))
      }
    }
    // HTTP/1.0 has no Host field: the request is for this server.
    if state.isOld, host == nil { host = "localhost" }
    var path = head.uri
    if path.utf8.first != UInt8(ascii: "/"), let absolute = Self.absolute(path) {
      (host, path) = absolute
    }
    return HTTPRequest(
      method: method, scheme: scheme, authority: host, path: path, headerFields: fields)
  }

  private static func matches(_ name: String, _ lowerCase: String) -> Bool {
    name.utf8.count == lowerCase.utf8.count
      && zip(name.utf8, lowerCase.utf8).allSatisfy { $0 | 0x20 == $1 }
  }

  /// The host and the path of a target in absolute form. This host replaces that of the `Host` field.
  /// - Returns: nil for a target in another form.
  private static func absolute(_ target: String) -> (host: String?, path: String)? {
    let bytes = target.utf8
    guard
      let start = ["http://", "https://"].first(where: { scheme in
        bytes.count >= scheme.utf8.count
          && zip(bytes, scheme.utf8).allSatisfy { $0 == $1 || $0 | 0x20 == $1 }
      })?.utf8.count
    else { return nil }
    let rest = target.utf8.dropFirst(start)
    let host = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
    let path = String(Substring(rest[host.endIndex...]))
    return (String(Substring(host)), path.utf8.first == UInt8(ascii: "/") ? path : "/" + path)
  }
}

extension HTTPFields {
  /// A field's value, as the subscript gives it, but without a copy if the field occurs once.
  package func value(of name: HTTPField.Name) -> String? {
    guard let index = firstIndex(where: { $0.name == name }) else { return nil }
    guard !self[self.index(after: index)...].contains(where: { $0.name == name }) else {
      return self[name]
    }
    return self[index].value
  }
}
