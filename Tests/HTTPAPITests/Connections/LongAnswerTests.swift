import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Testing

@testable import HTTPAPI
@testable import HTTPServer

/// Answers that are larger than a connection's buffers: FAULTS H05, slow reading. Regression: an answer of 64 MiB
/// stayed in memory for hours if its reader was slow, and was not accounted for.
@Suite struct LongAnswerTests {
  private static let size = 1 << 20

  /// Writes an answer with one body part to the first request.
  private func answer(_ wire: Wire, bytes: Int, says: Int? = nil) {
    wire.channel.write(
      HTTPResponsePart.head(
        .init(status: .ok, headerFields: [.contentLength: String(says ?? bytes)])), promise: nil)
    if bytes > 0 {
      wire.channel.write(
        HTTPResponsePart.body(ByteBuffer(repeating: 0x78, count: bytes)), promise: nil)
    }
    wire.channel.writeAndFlush(HTTPResponsePart.end(nil), promise: nil)
  }

  /// A connection whose client takes nothing until it is let.
  private func stalled(_ admission: Admission) throws -> (Wire, StalledClient) {
    let (wire, client) = (try Wire(admission: admission), StalledClient())
    try wire.channel.pipeline.syncOperations.addHandler(client, position: .first)
    try wire.receive(Wire.get)
    return (wire, client)
  }

  @Test func isAccountedForUntilItIsTaken() throws {
    let admission = Admission()
    let (wire, client) = try stalled(admission)
    answer(wire, bytes: Self.size)
    #expect(admission.answerBytes == Self.size && admission.runningCount == 0)
    // The head is written with the first piece's bytes or alone.
    client.take(Self.size / 2 + 1_000)
    #expect(admission.answerBytes == Self.size / 2)
    client.take(.max / 2)
    #expect(admission.answerBytes == 0 && client.waiting.isEmpty)
    wire.wait(.minutes(10))
    #expect(wire.channel.isActive)
  }

  @Test func countsWhileItIsPutTogetherAndOnceWhenItIsGiven() throws {
    let admission = Admission(answerMemory: 3 * Self.size / 2)
    let (wire, client) = try stalled(admission)
    let reservation = try #require(
      try wire.channel.pipeline.syncOperations.handler(type: RequestLimitHandler.self).reservation)
    #expect(reservation.reserveAnswer(1_000) && admission.answerBytes == 0)
    #expect(reservation.reserveAnswer(Self.size / 2) && reservation.reserveAnswer(Self.size))
    #expect(admission.answerBytes == Self.size)
    #expect(!reservation.reserveAnswer(2 * Self.size))
    answer(wire, bytes: Self.size)
    #expect(admission.answerBytes == Self.size)
    client.take(.max / 2)
    #expect(admission.answerBytes == 0)
  }

  @Test(arguments: [(8, true), (7, false)])
  func pieceByPieceHasToBeTakenAtTheRateToo(kibibytes: Int, isFastEnough: Bool) throws {
    let admission = Admission()
    let (wire, client) = try stalled(admission)
    wire.channel.write(
      HTTPResponsePart.head(
        .init(status: .ok, headerFields: [.contentLength: String(64 * Self.size)])), promise: nil)
    let pause = TimeAmount.milliseconds(Int64(64_000 / kibibytes))
    for _ in 0..<200 where wire.channel.isActive {
      wire.channel.writeAndFlush(
        HTTPResponsePart.body(ByteBuffer(repeating: 0x78, count: 64 << 10)), promise: nil)
      wire.wait(pause)
      client.take(.max / 2)
      // The server takes its time, which is not the client's.
      wire.wait(.minutes(5))
    }
    #expect(wire.channel.isActive == isFastEnough)
    client.fail()
    try? wire.channel.close().wait()
    #expect(admission.answerBytes == 0)
  }

  @Test func isGivenUpWithItsConnection() throws {
    let admission = Admission()
    let (wire, client) = try stalled(admission)
    answer(wire, bytes: Self.size)
    try wire.channel.close().wait()
    #expect(admission.answerBytes == 0)
    client.fail()
    #expect(admission.answerBytes == 0)
  }

  @Test(arguments: [
    ("GET", 65_536, 65_536, 65_536), ("GET", 100, 100, 100), ("HEAD", 0, 10_000_000, 0),
  ])
  func isAccountedForHoweverShortButNotForItsHead(
    method: String, bytes: Int, says: Int, counted: Int
  ) throws {
    let admission = Admission(answerMemory: 0)
    let (wire, client) = (try Wire(admission: admission), StalledClient())
    try wire.channel.pipeline.syncOperations.addHandler(client, position: .first)
    try wire.receive(Wire.get.replacing("GET", with: method))
    answer(wire, bytes: bytes, says: says)
    #expect(admission.answerBytes == counted)
    client.take(.max / 2)
    #expect(admission.answerBytes == 0)
  }

  /// Each part of a feed waits for its client with a full pause of its own, and is accounted for meanwhile.
  @Test func withoutLengthIsAccountedForPartByPart() throws {
    let admission = Admission()
    let (wire, client) = try stalled(admission)
    wire.channel.write(HTTPResponsePart.head(.init(status: .ok)), promise: nil)
    for _ in 0..<20 {
      wire.channel.writeAndFlush(
        HTTPResponsePart.body(ByteBuffer(repeating: 0x78, count: 1_000)), promise: nil)
      #expect(admission.answerBytes == 1_000)
      wire.wait(.seconds(Int64(RequestLimits.idleSeconds) / 2))
      client.take(.max / 2)
      #expect(admission.answerBytes == 0 && wire.channel.isActive)
    }
    wire.channel.writeAndFlush(
      HTTPResponsePart.body(ByteBuffer(repeating: 0x78, count: 1_000)), promise: nil)
    wire.wait(.seconds(2 * Int64(RequestLimits.idleSeconds)))
    #expect(!wire.channel.isActive)
    client.fail()
    #expect(admission.answerBytes == 0)
  }

  @Test func isReplacedBeyondTheMemoryForAnswers() throws {
    let admission = Admission(answerMemory: Self.size)
    let (slow, client) = try stalled(admission)
    answer(slow, bytes: Self.size)
    let other = try Wire(admission: admission)
    try other.receive(Wire.get + Wire.get)
    answer(other, bytes: 300_000)
    let refusal = try other.sent()
    #expect(refusal.hasPrefix("HTTP/1.1 503 ") && refusal.contains(#""error":"overloaded""#))
    #expect(refusal.lowercased().contains("retry-after: 1") && !refusal.contains("xxx"))
    answer(other, bytes: 1_000)
    #expect(try other.sent().hasPrefix("HTTP/1.1 200 "))
    client.take(.max / 2)
    try other.receive(Wire.get)
    answer(other, bytes: 300_000)
    #expect(try other.sent().hasPrefix("HTTP/1.1 200 "))
    #expect(admission.answerBytes == 0)
  }

  @Test(.bug(id: "H05"), arguments: [(8, true), (7, false)])
  func hasToBeTakenAtTheRate(kibibytes: Int, isFastEnough: Bool) throws {
    let admission = Admission()
    let (wire, client) = try stalled(admission)
    answer(wire, bytes: 64 * Self.size)
    client.take(1_000)
    // A piece of 64 KiB whenever it has come at that rate.
    let pause = TimeAmount.milliseconds(Int64(64_000 / kibibytes))
    for _ in 0..<200 where wire.channel.isActive {
      wire.wait(pause)
      client.take(64 << 10)
    }
    #expect(wire.channel.isActive == isFastEnough)
    client.fail()
    try? wire.channel.close().wait()
    #expect(admission.answerBytes == 0)
  }
}
