/// What a connection and a request's head may have; the composition root hands them to the HTTP server.
package enum RequestLimits {
  /// Bytes of a request's header fields, together and of one, at most.
  package static let headerBytes = 16 * 1024
  /// Header fields of a request at most.
  package static let headerFields = 64
  /// Seconds after which a connection on which nothing happens is closed.
  package static let idleSeconds = 60
}
