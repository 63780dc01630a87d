/// The limits of connections and requests, which the composition root passes to the HTTP server.
package enum RequestLimits {
  /// Bytes of a request's line and header fields, together and each, at most: twice the longest target.
  package static let headerBytes = 32 * 1024
  /// Header fields of a request at most.
  package static let headerFields = 64
  /// Seconds after which an idle connection is closed. A client may read nothing of an answer for the same time. It is
  /// longer than the 60 seconds for which nginx and load balancers keep one, so that they don't use a closed one, and than
  /// a body may pause (``bodyGraceSeconds``), so that a body that pauses for too long still gets its answer.
  package static let idleSeconds = 75
  /// Seconds in which a request's head has to arrive, counted from its first byte; also for a TLS handshake.
  package static let headerSeconds = 10
  /// Seconds that a body may pause, whatever its rate was before: a phone changes from one network to another.
  package static let bodyGraceSeconds = 60
  /// Bytes per second at which a body has to arrive, on average after its pause.
  package static let bodyBytesPerSecond = 1_024
  /// Seconds in which a body has to arrive, besides the time that its bytes take at ``bodyBytesPerSecond``.
  package static let bodySeconds = 120
  /// Seconds in which a body has to arrive once the server stops, so that it is still answered.
  package static let bodyAtStopSeconds = 10
  /// Bytes per second at which a client has to read an answer of more than 64 KiB, on average after its pause. For a
  /// feed only ``idleSeconds`` for each 64 KiB is required.
  package static let answerBytesPerSecond = 8_192
  /// Pieces in which a body may come: chunks, frames of HTTP/2, or what a client sends at a time. Each costs an event loop
  /// as much as a long one, and a client that has gone may have left megabytes to read behind.
  package static let bodyPieces = 16_384
  /// The bytes of a body that allow one piece more than ``bodyPieces``: far fewer than honest pieces have on average.
  package static let bytesPerBodyPiece = 4
  /// Bytes of a long answer that are written at a time. A client has to read each such piece within ``idleSeconds``.
  package static let answerPieceBytes = 64 << 10
  /// Seconds from the last byte of a request to the first byte of its answer. A feed begins its answer at once.
  package static let requestSeconds = 60
  /// Seconds for which a connection is still read after its last answer, so that the answer is not lost; and, when the
  /// server stops, before its first request.
  package static let lingerSeconds = 1
  /// Seconds from the order to stop until every connection is closed. Service managers give a process at least 30
  /// seconds; the stores are closed in the rest of that time.
  package static let stopSeconds = 20
  /// Connections at once, if the limit of file descriptors allows it.
  package static let connections = 10_000
  /// Connections at once from one address, or from the 64-bit prefix of an IPv6 address.
  package static let connectionsPerAddress = 256
  /// Requests that are answered at the same time, at most; fewer while the server is overloaded. A request counts only
  /// after its body has arrived.
  package static let requestsAtOnce = 1_024
  /// Bytes of bodies over 64 KiB in memory, of all running requests: as sent, unpacked, and what is made of them. It is
  /// an eighth of the memory that the process may use, if that is less.
  package static let bodyMemoryBytes = 256 << 20
  /// The lowest value of ``bodyMemoryBytes``, for a process with little memory: enough for one body of maximum length.
  package static let leastBodyMemoryBytes = 80 << 20
  /// Bytes of bodies in files, of all running requests: those that are too long for memory.
  package static let bodyFileBytes = 4 << 30
  /// The same, of the requests of one address.
  package static let bodyFileBytesPerAddress = 1 << 30
  /// Bytes of answers in memory that clients have not taken yet, of all connections. It is an eighth of the memory that
  /// the process may use, if that is less.
  package static let answerMemoryBytes = 256 << 20
  /// The lowest value of ``answerMemoryBytes``, for a process with little memory: enough for one answer of maximum
  /// length.
  package static let leastAnswerMemoryBytes = 64 << 20
  /// Streams open at once on one HTTP/2 connection.
  package static let streams = 100
  /// Bytes that an open HTTP/2 stream counts for besides its answer: its handlers and its task, as measured.
  package static let streamBytes = 40 << 10
}
