import HTTPTypes
import HummingbirdCore
import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOHTTPTypes
import Synchronization
import Testing

@testable import HTTPServer

/// What passes between a connection's event loop and the task that answers its requests.
@Suite struct RequestQueueTests {
  /// A connection's last handlers, without a socket.
  private struct QueueFixture {
    let channel: NIOAsyncTestingChannel
    let queue: RequestQueue
    let reads = Reads()

    init() async throws {
      let (channel, reads) = (NIOAsyncTestingChannel(), reads)
      let queue = RequestQueue(channel)
      try await channel.testingEventLoop.executeInContext {
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(reads)
        try pipeline.addHandler(RequestHandler(queue))
      }
      try await channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1))
      (self.channel, self.queue) = (channel, queue)
    }

    /// The parts that one read of the socket returns.
    func receive(_ parts: HTTPRequestPart...) async throws {
      try await channel.testingEventLoop.executeInContext { [channel] in
        for part in parts { channel.pipeline.syncOperations.fireChannelRead(NIOAny(part)) }
        channel.pipeline.syncOperations.fireChannelReadComplete()
      }
    }

    func fail(_ error: any Error) async throws {
      try await channel.testingEventLoop.executeInContext { [channel] in
        channel.pipeline.syncOperations.fireErrorCaught(error)
      }
    }

    /// Lets time pass until a step ends.
    func pass(until step: Task<Request?, any Error>) async throws -> Request? {
      let hasEnded = NIOLockedValueBox(false)
      let watcher = Task {
        _ = await step.result
        hasEnded.withLockedValue { $0 = true }
      }
      while !hasEnded.withLockedValue({ $0 }) {
        await Task.yield()
        await channel.testingEventLoop.advanceTime(by: RequestQueue.quiet)
      }
      await watcher.value
      return try await step.value
    }

    /// Asks for a read, as NIO does after each read. Returns whether the request reaches the socket.
    func reads() async throws -> Bool {
      let before = reads.count
      try await channel.testingEventLoop.executeInContext { [channel] in channel.read() }
      return reads.count > before
    }
  }

  private static let head = HTTPRequestPart.head(
    HTTPRequest(method: .put, scheme: "http", authority: "x", path: "/"))

  private static func body(_ text: String) -> HTTPRequestPart { .body(ByteBuffer(string: text)) }

  private static func text(_ request: Request) async throws -> String {
    String(buffer: try await request.body.collect(upTo: 1_000))
  }

  @Test func quietClientEndsTheWaitOfTheTaskThatAnswersAndAsksAgain() async throws {
    let fixture = try await QueueFixture()
    let queue = fixture.queue
    try await fixture.receive(Self.head, .end(nil))
    _ = try #require(try await queue.next())
    #expect(try await fixture.pass(until: Task { try await queue.nextSoon() }) == nil)
    // A request that comes between the two waits is answered.
    try await fixture.receive(Self.head, .end(nil))
    #expect(try await queue.next() != nil)
    // Nothing ends a wait without end, even if a timer still runs.
    async let soon = queue.nextSoon()
    try await fixture.receive(Self.head, .end(nil))
    #expect(try await soon != nil)
    async let next = queue.waitForNext()
    for _ in 0..<10 {
      await Task.yield()
      await fixture.channel.testingEventLoop.advanceTime(by: RequestQueue.quiet)
    }
    try await fixture.receive(Self.head, .end(nil))
    #expect(try await next)
    #expect(try await queue.nextSoon() != nil)
    try await fixture.fail(HTTPParserError.invalidEOFState)
    await #expect(throws: HTTPParserError.self) { _ = try await queue.nextSoon() }
    #expect(try await queue.next() == nil)
  }

  @Test func requestOfOneReadingCrossesWhole() async throws {
    let fixture = try await QueueFixture()
    try await fixture.receive(Self.head, Self.body("ab"), Self.body("c"), .end(nil))
    let request = try #require(try await fixture.queue.next())
    let text = try await Self.text(request)
    #expect(text == "abc")
  }

  @Test func requestIsHandedOverBeforeTheRestOfItsBody() async throws {
    let fixture = try await QueueFixture()
    try await fixture.receive(Self.head, Self.body("a"))
    let request = try #require(try await fixture.queue.next())
    try await fixture.receive(Self.body("b"))
    try await fixture.receive(Self.body("c"), .end(nil))
    let text = try await Self.text(request)
    #expect(text == "abc")
  }

  @Test func bodyThatBreaksOffIsItsReadersError() async throws {
    let fixture = try await QueueFixture()
    try await fixture.receive(Self.head, Self.body("a"))
    let request = try #require(try await fixture.queue.next())
    try await fixture.fail(ConnectionRefusal.overloaded)
    await #expect(throws: ConnectionRefusal.self) { _ = try await Self.text(request) }
    let next = try await fixture.queue.next()
    #expect(next == nil)
  }

  @Test func parsersErrorIsToldAfterTheRequestsBeforeIt() async throws {
    let fixture = try await QueueFixture()
    try await fixture.receive(Self.head, .end(nil))
    try await fixture.fail(HTTPParserError.invalidEOFState)
    let first = try await fixture.queue.next()
    #expect(first != nil)
    await #expect(throws: HTTPParserError.self) { _ = try await fixture.queue.next() }
    let last = try await fixture.queue.next()
    #expect(last == nil)
  }

  @Test func requestsBehindTheLastAnswerAreForgotten() async throws {
    let fixture = try await QueueFixture()
    try await fixture.receive(Self.head, .end(nil))
    try await fixture.receive(Self.head, .end(nil))
    _ = try await fixture.queue.next()
    try await fixture.channel.testingEventLoop.executeInContext { [channel = fixture.channel] in
      channel.pipeline.syncOperations.fireUserInboundEventTriggered(LastAnswer())
    }
    try await fixture.receive(Self.head, .end(nil))
    let next = try await fixture.queue.next()
    #expect(next == nil)
  }

  @Test func taskThatWaitsIsToldOfTheEnd() async throws {
    let fixture = try await QueueFixture()
    async let next = fixture.queue.next()
    try await fixture.channel.testingEventLoop.executeInContext { [channel = fixture.channel] in
      channel.pipeline.syncOperations.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
    }
    let request = try await next
    #expect(request == nil)
  }

  @Test func nothingMoreIsReadWhileRequestsWait() async throws {
    let fixture = try await QueueFixture()
    try await fixture.receive(Self.head, .end(nil))
    #expect(try await fixture.reads())
    try await fixture.receive(Self.head, .end(nil))
    let held = try await fixture.reads()
    #expect(!held)
    let before = fixture.reads.count
    _ = try await fixture.queue.next()
    try await fixture.channel.testingEventLoop.executeInContext {}
    #expect(fixture.reads.count == before + 1)
  }

  @Test func bodyThatNobodyReadsIsReadPast() async throws {
    let fixture = try await QueueFixture()
    try await fixture.receive(Self.head)
    do {
      let request = try #require(try await fixture.queue.next())
      for _ in 0..<12 { try await fixture.receive(Self.body("a")) }
      let held = try await fixture.reads()
      #expect(!held)
      _ = request.method
    }
    while try await !fixture.reads() { try? await Task.sleep(for: .milliseconds(1)) }
    try await fixture.receive(Self.body("a"), .end(nil))
    try await fixture.receive(Self.head, .end(nil))
    let next = try await fixture.queue.next()
    #expect(next != nil)
  }

  @Test func answerIsWrittenAtOnceOrPieceByPiece() async throws {
    let fixture = try await QueueFixture()
    let head = HTTPResponse(status: .ok)
    let whole = ResponseBody(byteBuffer: ByteBuffer(string: "abc"))
    let outlet = AnswerOutlet(
      fixture.channel, DateField(), PerEventLoop { LoopWrites(on: $0) })
    try await whole.write(AnswerWriter(outlet, head, hasLength: true))
    let pieces = ResponseBody { writer in
      try await writer.write(ByteBuffer(string: "a"))
      try await writer.write(ByteBuffer(string: "b"))
      try await writer.finish(nil)
    }
    try await pieces.write(AnswerWriter(outlet, head, hasLength: false))
    try await fixture.channel.testingEventLoop.executeInContext {}
    var parts: [HTTPResponsePart] = []
    while let part = try await fixture.channel.readOutbound(as: HTTPResponsePart.self) {
      parts.append(part)
    }
    let bodies = ["abc", "a", "b"].map { HTTPResponsePart.body(ByteBuffer(string: $0)) }
    #expect(
      parts == [
        .head(head), bodies[0], .end(nil), .head(head), bodies[1], bodies[2], .end(nil),
      ])
  }
}

/// Counts the reads that a connection asks of its socket.
final class Reads: ChannelOutboundHandler, Sendable {
  typealias OutboundIn = HTTPResponsePart

  private let seen = Mutex(0)
  var count: Int { seen.withLock { $0 } }

  func read(context: ChannelHandlerContext) {
    seen.withLock { $0 += 1 }
    context.read()
  }
}

extension RequestQueue {
  /// The next request, whenever it comes; nil when there are no more.
  fileprivate func next() async throws -> Request? {
    try await waitForNext() ? await nextSoon() : nil
  }
}
