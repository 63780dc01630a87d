/// What a connection and a request may have and take; the composition root hands them to the HTTP server.
package enum RequestLimits {
  /// Bytes of a request's line and header fields, together and of one, at most.
  package static let headerBytes = 16 * 1024
  /// Header fields of a request at most.
  package static let headerFields = 64
  /// Seconds after which a connection on which nothing happens is closed; also how long a client may take
  /// nothing of an answer.
  package static let idleSeconds = 60
  /// Seconds in which a request's head has to arrive, from its first byte; and a TLS handshake.
  package static let headerSeconds = 10
  /// Seconds that a body may pause, however fast it came before.
  package static let bodyGraceSeconds = 10
  /// Bytes per second that a body has to come at, on average after the pause that it may make.
  package static let bodyBytesPerSecond = 1_024
  /// Seconds in which a body has to arrive.
  package static let bodySeconds = 120
  /// Bytes per second that a client has to take of an answer of more than 64 KiB, on average after the pause
  /// that it may make. A feed may be read as slowly as one likes, down to ``idleSeconds`` for each 64 KiB.
  package static let answerBytesPerSecond = 8_192
  /// Seconds from a request's last byte to the first of its answer. A feed answers at once.
  package static let requestSeconds = 60
  /// Seconds that a connection is read from after its last answer, so that the answer is not lost.
  package static let lingerSeconds = 1
  /// Seconds from the order to stop to the end of every connection, whatever is on its way there. Thirty
  /// are what service managers grant a process at least; the stores are closed in the rest.
  package static let stopSeconds = 20
  /// Connections at once, where the limit on file descriptors leaves room for as many.
  package static let connections = 10_000
  /// Connections at once from one address, or from the 64-bit prefix of an IPv6 address.
  package static let connectionsPerAddress = 256
  /// Requests that are being answered at once, at most; fewer while the server falls behind. One whose body is
  /// on its way is not among them until that has come.
  package static let requestsAtOnce = 1_024
  /// Bytes of bodies over 64 KiB in memory, as they were sent, unpacked and with what is made of them, of all the
  /// requests whose handlers run; an eighth of the memory that the process may take where that is less.
  package static let bodyMemoryBytes = 256 << 20
  /// The same where the process may take little memory: enough for one body of the longest.
  package static let leastBodyMemoryBytes = 80 << 20
  /// Bytes of answers over 64 KiB in memory that clients have not taken yet, of all connections; an eighth of the
  /// memory that the process may take where that is less.
  package static let answerMemoryBytes = 256 << 20
  /// The same where the process may take little memory: enough for one answer of the longest.
  package static let leastAnswerMemoryBytes = 64 << 20
  /// Streams open at once on one HTTP/2 connection.
  package static let streams = 100
}
