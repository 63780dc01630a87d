import TestSupport
import Testing

@testable import BLIP

@Suite struct BLIPConnectionTests {
  /// Two ends of a connection.
  private struct Pair: ~Copyable {
    var one = BLIPConnection(.test)
    var other = BLIPConnection(.test)

    /// Carries all frames from one end to the other.
    mutating func carry() throws(BLIPError) -> [BLIPMessage] {
      var messages: [BLIPMessage] = []
      while let frame = one.nextFrame() {
        if let message = try other.read(frame)?.message { messages.append(message) }
        while let acknowledgement = other.nextFrame() { _ = try one.read(acknowledgement) }
      }
      return messages
    }
  }

  @Test func messageArrivesAsItWasSent() throws {
    var pair = Pair()
    let request = BLIPMessage(
      .request, ["Profile": "rev", "empty": "", "ä": "ö"], body: Array("body".utf8))
    _ = pair.one.send(request)
    var carried = try pair.carry()
    #expect(carried == [request])
    let nothing = BLIPMessage(.request, isNoReply: true)
    _ = pair.one.send(nothing)
    carried = try pair.carry()
    #expect(carried == [nothing])
  }

  @Test func answersHaveTheNumbersOfTheirRequests() throws {
    var pair = Pair()
    for _ in 0..<3 { _ = pair.one.send(BLIPMessage(.request)) }
    _ = try pair.carry()
    let answer = BLIPMessage(.error, ["Error-Code": "404"])
    pair.other.answer(2, answer)
    let next = pair.other.nextFrame()
    let frame = try #require(next)
    let received = try pair.one.read(frame)
    guard case .message(2, answer)? = received else {
      Issue.record("The answer has no number")
      return
    }
    // A second answer is not sent.
    pair.other.answer(2, answer)
    let nothing = pair.other.nextFrame()
    #expect(nothing == nil)
  }

  /// A device may answer each message, also one that wants no answer, and a second time.
  @Test func anAnswerThatNobodyAwaitsEndsNoConnection() throws {
    var one = BLIPConnection(.test)
    let early = FrameHead(1, .part(.answer))
    var frame: [UInt8] = []
    early.append(to: &frame)
    // Without properties and body: one byte, and its checksum.
    let answer = frame + [0x00, 0xD2, 0x02, 0xEF, 0x8D]
    #expect(throws: BLIPError.malformed("An answer belongs to no request")) {
      try one.read(answer)
    }
    var other = BLIPConnection(.test)
    _ = other.send(BLIPMessage(.request, isNoReply: true))
    guard case .message(1, BLIPMessage(.answer))? = try other.read(answer) else {
      Issue.record("The answer was not read")
      return
    }
  }

  @Test func longMessagesAlternate() throws {
    var pair = Pair()
    let long = BLIPMessage(.request, body: Array(repeating: 1, count: 100_000))
    let short = BLIPMessage(.request, body: [2])
    _ = pair.one.send(long)
    _ = pair.one.send(short)
    let carried = try pair.carry()
    #expect(carried == [short, long])
  }

  @Test func aMessageWaitsForTheAcknowledgementOfMuch() throws {
    var one = BLIPConnection(.test)
    var other = BLIPConnection(.test)
    let long = BLIPMessage(.request, body: Array(repeating: 1, count: 500_000))
    _ = one.send(long)
    var frames: [[UInt8]] = []
    while let frame = one.nextFrame() { frames.append(frame) }
    #expect(frames.count == 8)
    for frame in frames {
      let message = try other.read(frame)?.message
      #expect(message == nil)
    }
    // Each 50,000 bytes are acknowledged with the sum: the payloads and their checksums.
    let acknowledgement = other.nextFrame()
    #expect(acknowledgement == [1, 0x34, 0xD4, 0xFF, 0x03])
    _ = try one.read(acknowledgement ?? [])
    let next = one.nextFrame()
    #expect(next != nil)
  }

  @Test func compressedFramesShareOneStream() throws {
    var connection = BLIPConnection(.test)
    var deflater = try Deflater()
    let body = Array(repeating: UInt8(ascii: "x"), count: 1_000)
    for number in 1...3 as ClosedRange<UInt64> {
      let frame = try deflater.frame(number, BLIPMessage(.request, ["a": "b"], body: body))
      #expect(frame.count < 100)
      let received = try connection.read(frame)
      #expect(received?.message?.body == body)
    }
    let inflated = connection.inflatedBytes
    #expect((3_000..<3_100).contains(inflated))
  }

  @Test func inflatedBytesAreBounded() throws {
    var connection = BLIPConnection(.test)
    var deflater = try Deflater()
    let bomb = BLIPMessage(.request, body: Array(repeating: 0, count: 18 << 20))
    let frame = try deflater.frame(1, bomb)
    #expect(frame.count < 32 << 10)
    let thrown = BLIPError.thrown { () throws(BLIPError) in _ = try connection.read(frame) }
    #expect(thrown != nil)
  }

  /// A frame of 16 KiB would take a processor for as long as 17 MiB take.
  @Test func aFrameThatInflatesToMuchIsReadInSlices() throws {
    var connection = BLIPConnection(.test)
    var deflater = try Deflater()
    let long = BLIPMessage(.request, body: Array(repeating: 0, count: 16 << 20))
    try connection.receive(try deflater.frame(1, long))
    var (slices, former, event) = (0, 0, BLIPConnection.Event?.none)
    var isRead = false
    while !isRead {
      (isRead, event) = try connection.proceed()
      let (inflated, held) = (connection.inflatedBytes, connection.heldBytes)
      #expect(inflated - former <= 256 << 10 && held <= 1 << 20)
      (slices, former) = (slices + 1, inflated)
    }
    #expect(slices >= 64 && event?.message?.isTooLong == true)
  }

  private static let brokenFrames: [[UInt8]] = [
    [], [1], [0, 0, 0, 0, 0, 0], [1, 0], [1, 0, 1, 2, 3], [1, 0, 0, 0, 0, 0, 1],
    [1, 3, 0, 0, 0, 0], [1, 0x80, 0x01, 0, 0, 0, 0], [2, 0, 0, 0xD2, 0x02, 0xEF, 0x8D],
    [1, 1, 0, 0xD2, 0x02, 0xEF, 0x8D], [1, 8, 0xFF, 0xFF, 0, 0, 0, 0],
    Array(repeating: 0xFF, count: 12),
  ]

  @Test(arguments: brokenFrames)
  func brokenFrameEndsTheConnection(_ frame: [UInt8]) throws {
    var connection = BLIPConnection(.test)
    let thrown = BLIPError.thrown { () throws(BLIPError) in _ = try connection.read(frame) }
    #expect(thrown != nil)
  }

  @Test func incompleteMessagesAreBounded() throws {
    var one = BLIPConnection(.test)
    var other = BLIPConnection(.test)
    let long = BLIPMessage(.request, body: Array(repeating: 1, count: 20_000))
    for _ in 0...BLIPLimits.openMessages { _ = one.send(long) }
    var thrown: BLIPError?
    while thrown == nil, let frame = one.nextFrame() {
      thrown = BLIPError.thrown { () throws(BLIPError) in _ = try other.read(frame) }
    }
    #expect(thrown == .tooLarge("Too many messages are incomplete"))
    let held = other.heldBytes
    #expect(held <= BLIPLimits.openMessages * BLIPLimits.frameBytes)
  }

  /// LiteCore bounds their bytes, not their number.
  @Test func twoMebibytesOfShortRevisionsMayWaitForTheirAnswers() throws {
    var pair = Pair()
    let digits = String(repeating: "a", count: 40)
    let short = BLIPMessage(
      .request,
      ["Profile": "rev", "id": "a", "rev": "1-" + digits, "noconflicts": "true", "sequence": "1"],
      body: Array("{}".utf8))
    let count = (2 << 20) / short.bytes.count
    for _ in 0..<count { _ = pair.one.send(short) }
    let carried = try pair.carry().count
    #expect(carried == count)
  }

  @Test func unansweredRequestsAreBounded() throws {
    var pair = Pair()
    for _ in 0..<BLIPLimits.unanswered { _ = pair.one.send(BLIPMessage(.request)) }
    _ = try pair.carry()
    _ = pair.one.send(BLIPMessage(.request))
    let thrown = BLIPError.thrown { () throws(BLIPError) in _ = try pair.carry() }
    #expect(thrown == .tooLarge("Too many requests have no answer"))
  }

  @Test func propertiesNeedTheirEnds() throws {
    #expect(try BLIPMessage.properties(parsing: [0x61, 0, 0x62, 0])["a"] == "b")
    #expect(try BLIPMessage.properties(parsing: [0x61, 0, 0])["a"] == "")
    for bytes in [[0x61], [0x61, 0], [0x61, 0, 0x62], [0xFF, 0, 0xFF, 0]] as [[UInt8]] {
      #expect(throws: BLIPError.self) { try BLIPMessage.properties(parsing: bytes[...]) }
    }
  }
}

extension BLIPError {
  /// What a step throws; nil if nothing. The macros of the tests can't take a value that is not copied.
  static func thrown(_ step: () throws(BLIPError) -> Void) -> BLIPError? {
    do throws(BLIPError) {
      try step()
      return nil
    } catch { return error }
  }
}

extension BLIPConnection {
  /// Takes a frame, and reads all of it.
  mutating func read(_ frame: [UInt8]) throws(BLIPError) -> Event? {
    try receive(frame)
    while true {
      let next = try proceed()
      if next.isRead { return next.event }
    }
  }
}

extension BLIPConnection.Event {
  /// The complete message; nil for a part.
  fileprivate var message: BLIPMessage? {
    guard case .message(_, let message) = self else { return nil }
    return message
  }
}

extension BLIPLimits {
  /// The limits of a small document.
  static let test = BLIPLimits(messageBytes: 1 << 20, openBytes: 3 << 20)
}
