import IPAddresses
import NIOCore
import NIOEmbedded
import Testing

@testable import HTTPServer

/// An event loop whose connections' bytes take a known time to handle.
@Suite(.timeLimit(.minutes(60))) struct ReadTurnsTests {
  private let loop = EmbeddedEventLoop()
  private let record = Record()
  private let turns: ReadTurns

  /// What was handled, in its order, and the time that this has taken.
  private final class Record {
    var lines: [String] = []
    var worked = TimeAmount.zero
  }

  /// Handles bytes: a millisecond for each `*`, and a connection's end for an `x`.
  private final class Worker: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    let record: Record

    init(_ record: Record) { self.record = record }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      let text = String(buffer: unwrapInboundIn(data))
      let line = text.replacing(" ", with: "")
      if !line.isEmpty { record.lines.append(line) }
      record.worked = record.worked + .milliseconds(Int64(text.count { $0 == "*" }))
      if text.contains("x") { context.close(promise: nil) }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
      record.lines.append("\(event)")
    }

    func channelInactive(context: ChannelHandlerContext) { record.lines.append("gone") }
  }

  init() {
    let (loop, record) = (loop, record)
    turns = ReadTurns(on: loop) { loop.now + record.worked }
  }

  private func connect(_ address: String) throws -> EmbeddedChannel {
    let channel = EmbeddedChannel(
      handlers: [ReadTurnHandler(turns, ClientAddress(address)), Worker(record)], loop: loop)
    try channel.connect(to: SocketAddress(ipAddress: address, port: 1)).wait()
    return channel
  }

  private func send(_ text: String, _ channel: EmbeddedChannel) {
    channel.pipeline.fireChannelRead(ByteBuffer(string: text))
    if channel.isActive { channel.pipeline.fireChannelReadComplete() }
  }

  private func close(_ channel: EmbeddedChannel) {
    channel.close(promise: nil)
    loop.run()
  }

  /// Ends a tick of the loop.
  private func tick() { loop.advanceTime(by: ReadTurns.pause) }

  @Test func oneAddressAloneWaitsForNothingButALookAtTheSockets() throws {
    let channels = try (0..<4).map { _ in try connect("192.0.2.1") }
    for (number, channel) in channels.enumerated() { send("\(number)***", channel) }
    #expect(record.lines == ["0***", "1***"])
    tick()
    #expect(record.lines == ["0***", "1***", "2***", "3***"])
    for channel in channels { close(channel) }
    loop.advanceTime(by: ReadTurns.longestDebt)
    #expect(turns.count == 0)
  }

  @Test func addressWithMoreThanItsShareWaitsWhileOthersDoNot() throws {
    let (heavy, light) = (try connect("192.0.2.1"), try connect("192.0.2.2"))
    send("light", light)
    send("a" + String(repeating: "*", count: 20), heavy)
    tick()
    send("b*", heavy)
    send("light", light)
    tick()
    // It has used 20 ms, which is its share of 40, and may be 10 ms ahead.
    #expect(record.lines.suffix(2) == ["a" + String(repeating: "*", count: 20), "light"])
    loop.advanceTime(by: .milliseconds(9))
    #expect(record.lines.last == "light")
    loop.advanceTime(by: .milliseconds(2))
    #expect(record.lines.last == "b*")
    for channel in [heavy, light] { close(channel) }
  }

  @Test func addressThatHasUsedTheLeastComesFirst() throws {
    let channels = try (1...3).map { try connect("192.0.2.\($0)") }
    send("light", channels[0])
    for (index, cost) in [(1, 40), (2, 15)] {
      send(String(repeating: "*", count: cost), channels[index])
      tick()
    }
    send("more", channels[1])
    send("less", channels[2])
    // Their shares are paid after 80 ms and after 70, and each may be 10 ms ahead. Until now they have worked for 55.
    loop.advanceTime(by: .milliseconds(6))
    #expect(record.lines.last == "less")
    loop.advanceTime(by: .milliseconds(10))
    #expect(record.lines.last == "more")
    channels.forEach(close)
  }

  @Test func requestsOfAnAddressComeBeforeHandshakesAndBulksButNotForGood() throws {
    let channels = try (0..<9).map { _ in try connect("192.0.2.1") }
    for _ in 0..<4 { for channel in channels[6...] { send("", channel) } }
    record.lines = []
    send("*****", channels[0])
    let blanks = String(repeating: " ", count: 2_000)
    for number in 1...2 { send("bulk\(number)" + blanks, channels[number]) }
    for number in 3...5 { send("handshake\(number)", channels[number]) }
    for number in 6...8 { send("request\(number)", channels[number]) }
    tick()
    #expect(
      record.lines == [
        "*****", "request6", "handshake3", "request7", "bulk1", "request8", "handshake4",
        "handshake5", "bulk2",
      ])
    channels.forEach(close)
  }

  @Test func waitingConnectionReadsNothingMoreAndLosesNothing() throws {
    let channels = try (0..<3).map { _ in try connect("192.0.2.1") }
    let (reads, wanted) = (Reads(), Reads())
    try channels[1].pipeline.syncOperations.addHandler(reads, position: .first)
    try channels[1].pipeline.syncOperations.addHandler(wanted)
    send("*****", channels[0])
    send("kept", channels[1])
    channels[1].read()
    #expect(reads.count == 0)
    tick()
    #expect(record.lines.last == "kept")
    // Regression: the other handlers were told that the server reads no more, and never that it does. A body that paused
    // for too long got no answer, because the time did not count in which the server did not read.
    #expect(reads.count == 1 && wanted.count == 2)
    // Whoever has gone waits for no answer, and bytes that are too many to be kept do not wait.
    send("*****", channels[0])
    send("lost", channels[1])
    close(channels[1])
    send(String(repeating: " ", count: ReadTurnHandler.longestKept / 2) + "long", channels[0])
    #expect(turns.keptBytes == ReadTurnHandler.longestKept / 2 + 4)
    send(String(repeating: " ", count: ReadTurnHandler.longestKept) + "longer", channels[2])
    #expect(record.lines.suffix(4) == ["kept", "*****", "gone", "longer"])
    tick()
    #expect(record.lines.last == "long" && turns.keptBytes == 0)
    for channel in [channels[0], channels[2]] { close(channel) }
  }

  /// Regression: one read may have ten thousand chunks or frames, and four came before everybody else's bytes.
  @Test func longReadIsHandledInPortionsBetweenThoseOfOthers() throws {
    let (heavy, light) = (try connect("192.0.2.1"), try connect("192.0.2.2"))
    let blanks = String(repeating: " ", count: ReadTurnHandler.portionBytes - 6)
    send("light", light)
    send((0..<3).map { "\($0)*****" + blanks }.joined(), heavy)
    heavy.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
    send("light", light)
    #expect(record.lines == ["light", "0*****", "light"])
    tick()
    send("light", light)
    #expect(record.lines.suffix(2) == ["1*****", "light"])
    loop.advanceTime(by: ReadTurns.longestDebt)
    #expect(record.lines.suffix(2) == ["2*****", "inputClosed"])
    #expect(turns.keptBytes == 0)
    for channel in [heavy, light] { close(channel) }
  }

  /// Regression: once 64 connections of one address kept 16 MiB, no read of theirs waited for a turn.
  @Test func addressThatKeepsTheMostWaitsOn() throws {
    let count = ReadTurns.mostKept / ReadTurnHandler.longestKept
    let heavy = try (0...count + 1).map { _ in try connect("192.0.2.1") }
    let light = try (0..<2).map { _ in try connect("192.0.2.2") }
    send("*****", heavy[0])
    let read = "heavy" + String(repeating: " ", count: ReadTurnHandler.longestKept - 5)
    for channel in heavy[1...] { send(read, channel) }
    send("*****", light[0])
    send("light" + String(repeating: " ", count: ReadTurnHandler.longestKept / 2), light[1])
    #expect(record.lines == ["*****", "*****", "light"])
    let all = turns.keptBytes
    #expect(all == (count + 1) * ReadTurnHandler.longestKept)
    // Others keep three times as much.
    turns.keptBytes += 3 * ReadTurns.mostKept
    send("more", heavy[0])
    #expect(turns.keptBytes == 3 * ReadTurns.mostKept + all + 4)
    send(String(repeating: " ", count: ReadTurnHandler.longestKept / 2), heavy[0])
    #expect(record.lines.last == "gone" && turns.keptBytes == 3 * ReadTurns.mostKept + all)
    turns.keptBytes = all
    for channel in heavy[1...] + light { close(channel) }
    #expect(turns.keptBytes == 0)
  }

  /// Regression: NIO reads all that has come before it tells a connection's end, and all of it was handled at once.
  @Test func whatComesBeforeAnEndWaitsOrEndsItsConnection() throws {
    let channels = try (0..<2).map { _ in try connect("192.0.2.1") }
    let portion = "**" + String(repeating: " ", count: ReadTurnHandler.portionBytes - 2)
    let read = String(
      repeating: portion, count: ReadTurnHandler.longestKept / ReadTurnHandler.portionBytes)
    send("*****", channels[0])
    for _ in 0..<4 { send(read, channels[1]) }
    // A turn for each read but the first.
    #expect(record.lines == ["*****", "**", "**", "**"])
    #expect(turns.keptBytes == ReadTurnHandler.longestEnd - 3 * ReadTurnHandler.portionBytes)
    send(read, channels[1])
    #expect(record.lines.suffix(2) == ["**", "gone"])
    #expect(turns.keptBytes == 0)
    close(channels[0])
  }

  /// Regression: whoever closed the sending side behind the bytes waited for nobody.
  @Test func endOfWhatAClientSendsWaitsWithIt() throws {
    let channels = try (0..<2).map { _ in try connect("192.0.2.1") }
    send("*****", channels[0])
    send("last", channels[1])
    for channel in channels {
      channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
    }
    #expect(record.lines == ["*****", "inputClosed"])
    tick()
    #expect(record.lines == ["*****", "inputClosed", "last", "inputClosed"])
    channels.forEach(close)
  }

  /// Regression: such a read cost nothing, and what had come behind its bytes was handled after the end.
  @Test func readThatEndsItsConnectionCounts() throws {
    let channels = try (0..<2).map { _ in try connect("192.0.2.1") }
    send("*****x", channels[0])
    channels[1].pipeline.fireChannelRead(ByteBuffer(string: "x"))
    send("behind", channels[1])
    #expect(record.lines == ["*****x", "gone"])
    tick()
    #expect(record.lines == ["*****x", "gone", "x", "gone"])
    loop.advanceTime(by: ReadTurns.longestDebt)
    #expect(turns.count == 0)
  }
}
