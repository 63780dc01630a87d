import Testing

@testable import BLIP

/// Answers that are passed on part by part, and requests that are too long.
@Suite struct BLIPStreamTests {
  private static let long = Array(repeating: UInt8(7), count: 300_000)

  @Test func aStreamedAnswerComesInParts() throws {
    var one = BLIPConnection(.test)
    var other = BLIPConnection(.test)
    let number = one.send(BLIPMessage(.request), streamsAnswer: true)
    let asked = try other.read(one.nextFrame() ?? [])
    #expect(asked != nil)
    other.answer(number, BLIPMessage(.answer, ["a": "b"]), following: Int64(Self.long.count))
    var (body, offset, parts, isComplete) = ([UInt8](), 0, 0, false)
    while !isComplete {
      if let wanting = other.wanting {
        #expect(wanting == number)
        let piece = Array(Self.long[offset..<min(offset + 70_000, Self.long.count)])
        other.supply(piece, to: number)
        offset += piece.count
      }
      let frame = other.nextFrame()
      guard case .part(number, let part, let isLast) = try one.read(try #require(frame)) else {
        continue
      }
      body += part
      parts += 1
      isComplete = isLast
      let held = (one.heldBytes, other.queuedBytes)
      #expect(held.0 == 0 && held.1 <= 70_000)
      while let acknowledgement = one.nextFrame() { _ = try other.read(acknowledgement) }
    }
    #expect(body == Self.long && parts > 10)
  }

  @Test func anAnswerWaitsForItsBytesAndForItsPeer() throws {
    var one = BLIPConnection(.test)
    var other = BLIPConnection(.test)
    let number = one.send(BLIPMessage(.request), streamsAnswer: true)
    _ = try other.read(one.nextFrame() ?? [])
    other.answer(number, BLIPMessage(.answer), following: 1 << 20)
    while let wanting = other.wanting {
      other.supply(Array(repeating: 1, count: 64 << 10), to: wanting)
      while other.nextFrame() != nil {}
    }
    // The window is full, and nothing more is asked for.
    let queued = other.queuedBytes
    #expect(queued <= 64 << 10)
  }

  @Test func anErrorInsteadOfAStreamComesWhole() throws {
    var one = BLIPConnection(.test)
    var other = BLIPConnection(.test)
    let number = one.send(BLIPMessage(.request), streamsAnswer: true)
    _ = try other.read(one.nextFrame() ?? [])
    let error = BLIPMessage(.error, ["Error-Code": "404"], body: Array("gone".utf8))
    other.answer(number, error)
    guard case .message(number, error)? = try one.read(other.nextFrame() ?? []) else {
      Issue.record("The error is no message")
      return
    }
  }

  @Test func aWithdrawnAnswerMayNotGoOnWithoutAcknowledgements() throws {
    var one = BLIPConnection(.test)
    var other = BLIPConnection(.test)
    let number = one.send(BLIPMessage(.request), streamsAnswer: true)
    _ = try other.read(one.nextFrame() ?? [])
    other.answer(number, BLIPMessage(.answer, body: Array(repeating: 1, count: 900_000)))
    _ = try one.read(other.nextFrame() ?? [])
    one.withdraw(number)
    // A peer that keeps the window.
    while let frame = other.nextFrame() {
      let event = try one.read(frame)
      #expect(event == nil)
    }
    let acknowledgement = one.nextFrame()
    #expect(acknowledgement == nil)
    // One that does not.
    var thrown: BLIPError?
    for _ in 0..<8 where thrown == nil {
      var ignored: [UInt8] = []
      FrameHead(number, .acknowledgement(ofRequest: false)).append(to: &ignored)
      Varint.append(UInt64(129_000), to: &ignored)
      _ = try? other.read(ignored)
      while thrown == nil, let frame = other.nextFrame() {
        thrown = BLIPError.thrown { () throws(BLIPError) in _ = try one.read(frame) }
      }
    }
    #expect(thrown == .tooLarge("An answer goes on that is not acknowledged"))
  }

  @Test(arguments: [false, true])
  func ofATooLongRequestOnlyThePropertiesAreKept(isCompressed: Bool) throws {
    var one = BLIPConnection(.test)
    var other = BLIPConnection(.test)
    let body = Array(repeating: UInt8(1), count: 5 << 20)
    let request = BLIPMessage(.request, ["Profile": "rev"], body: body)
    var events: [BLIPConnection.Event] = []
    if isCompressed {
      var deflater = try Deflater()
      if let event = try other.read(try deflater.frame(1, request)) { events.append(event) }
    } else {
      _ = one.send(request)
      while let frame = one.nextFrame() {
        if let event = try other.read(frame) { events.append(event) }
        let held = other.heldBytes
        #expect(held <= 1 << 20)
        while let acknowledgement = other.nextFrame() { _ = try one.read(acknowledgement) }
      }
    }
    guard case .message(1, let message)? = events.first, events.count == 1 else {
      Issue.record("The request has not come")
      return
    }
    #expect(message.isTooLong && message.body.isEmpty && message.properties["Profile"] == "rev")
  }
}
