import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Scheduling
import TestSupport
import Testing

@testable import HTTPServer

/// A connection with the task that answers its requests, without a socket. Its time stands still.
@Suite(.timeLimit(.minutes(60))) struct PlainConnectionTests {
  private let channel = NIOAsyncTestingChannel()
  private let reads = Reads()

  /// Answers 401 to everything, without reading a body unless it counts the body's pieces.
  private struct Refusing: RequestAnswering {
    var countsPieces = false
    /// How long it computes before each answer.
    var computing = Duration.zero
    var seats: Seats?

    func answer(
      _ request: Request, on channel: any Channel, reservation: RequestReservation?,
      logger: Logger
    ) async throws -> Response {
      let end = ContinuousClock.now + computing
      while ContinuousClock.now < end {}
      var text = "no"
      if countsPieces {
        var (lengths, held) = ([Int](), 0)
        for try await piece in request.body {
          lengths.append(piece.readableBytes)
          if piece.readableBytes < 4_000 { held = max(held, piece.storageCapacity) }
        }
        text = "\(lengths) hold \(held < 2_000 ? "little" : "\(held)"), no"
      }
      return Response(
        status: .unauthorized, body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }

    func answerAtOnce(_ head: HTTPRequest) -> (head: HTTPResponse, body: ByteBuffer)? { nil }
    func isAlwaysAdmitted(_ head: HTTPRequest) -> Bool { false }

    func answer(
      to refusal: ConnectionRefusal, of request: HTTPRequest?
    ) -> (head: HTTPResponse, body: ByteBuffer) {
      (HTTPResponse(status: .serviceUnavailable), ByteBuffer())
    }

    func account(of channel: any Channel) -> ProcessorAccount? {
      seats == nil ? nil : ProcessorAccount()
    }

    func work(
      for request: Request, from channel: any Channel, on account: ProcessorAccount
    ) -> Work? { seats.map { Work(account, in: $0) } }

    func isProxy(_ address: String) -> Bool { false }
  }

  /// A client that always has another request ready would else keep a thread of Swift's pool.
  @Test func taskLinesUpAgainBetweenAnswersThatWaitForNothing() async throws {
    let connection = PlainConnection(
      answers: Refusing(
        computing: .milliseconds(Slice.milliseconds), seats: Seats(stores: .forStores())),
      admission: Admission())
    let logger = Logger(label: "test")
    let queue = try await channel.testingEventLoop.executeInContext { [channel] in
      connection.setup(channel: channel, logger: logger)
    }.get()
    try await channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1))
    let head = HTTPRequest(method: .get, scheme: "http", authority: "x", path: "/")
    for _ in 0..<20 {
      queue.append(Request(head: head, body: RequestBody(buffer: ByteBuffer())))
    }
    let executor = CountingExecutor()
    let serving = Task(executorPreference: executor) {
      await connection.handle(value: queue, logger: logger)
    }
    var answered = ""
    while answered.split(separator: "401", omittingEmptySubsequences: false).count <= 20 {
      answered += try await answer()
    }
    #expect(executor.count >= 20)
    try await channel.close()
    await serving.value
  }

  /// Sends bytes to the client's side of the socket.
  private func receive(_ text: String) async throws {
    try await channel.writeInbound(ByteBuffer(string: text))
  }

  /// Waits until the server has answered once more.
  private func answer() async throws -> String {
    var text = ""
    while !text.hasSuffix("no") {
      if let bytes = try await channel.readOutbound(as: ByteBuffer.self) {
        text += String(buffer: bytes)
      } else {
        try await Task.sleep(for: .milliseconds(1))
      }
    }
    return text
  }

  /// Whether NIO's read after each delivery reaches the socket.
  private func mayRead() async throws -> Bool {
    let before = reads.count
    try await channel.testingEventLoop.executeInContext { [channel] in channel.read() }
    return reads.count > before
  }

  /// Connects a client.
  private func serve(_ answers: Refusing) async throws -> Task<Void, Never> {
    let connection = PlainConnection(answers: answers, admission: Admission())
    let logger = Logger(label: "test")
    let queue = try await channel.testingEventLoop.executeInContext { [channel, reads] in
      try channel.pipeline.syncOperations.addHandler(reads)
      return connection.setup(channel: channel, logger: logger)
    }.get()
    try await channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1))
    return Task { await connection.handle(value: queue, logger: logger) }
  }

  /// Regression: each chunk was a piece for the body's reader, and 10,000 chunks of a byte come at once. A short piece kept
  /// all that had come with it in memory: 4,000 bodies of HTTP/2 took 350 MiB.
  @Test func chunksThatComeTogetherAreOnePiece() async throws {
    let serving = try await serve(Refusing(countsPieces: true))
    try await receive("PUT / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
    let long = String(repeating: "b", count: 5_000)
    try await receive(String(repeating: "1\r\na\r\n", count: 1_000))
    try await receive("2\r\naa\r\n1388\r\n\(long)\r\n1\r\na\r\n1\r\na\r\n0\r\n\r\n")
    #expect(try await answer().hasSuffix("[1000, 2, 5000, 2] hold little, no"))
    try await channel.close()
    await serving.value
  }

  @Test func restOfARefusedBodyIsReadWhileTheConnectionWaits() async throws {
    let serving = try await serve(Refusing())
    for _ in 0..<2 {
      try await receive("PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 20000\r\n\r\n")
      #expect(try await answer().contains("401"))
      for _ in 0..<20 {
        while try await !mayRead() { try await Task.sleep(for: .milliseconds(1)) }
        try await receive(String(repeating: "a", count: 1_000))
      }
    }
    try await receive("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    #expect(try await answer().contains("401"))
    try await channel.close()
    await serving.value
  }
}
