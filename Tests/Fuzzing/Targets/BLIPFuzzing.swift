import BLIP

/// BLIP: no frames make a connection hold more than its limits, and what was sent arrives.
enum BLIPFuzzing {
  private static let limits = BLIPLimits(messageBytes: 64 << 10, openBytes: 128 << 10)

  /// The bytes are frames, each after its length in two bytes.
  static func check(_ bytes: [UInt8]) {
    var connection = BLIPConnection(limits)
    // Some requests, whose answers and acknowledgements may come.
    for (size, streamsAnswer) in [(0, false), (200_000, false), (0, true)] {
      let request = BLIPMessage(.request, body: Array(repeating: 1, count: size))
      _ = connection.send(request, streamsAnswer: streamsAnswer)
    }
    var rest = bytes[...]
    while rest.count > 1, let high = rest.popFirst(), let low = rest.popFirst() {
      let frame = Array(rest.prefix(Int(high) << 8 | Int(low)))
      rest = rest.dropFirst(frame.count)
      do {
        switch try connection.read(frame) {
        case .message(let number, let message):
          claim(message.body.count <= limits.messageBytes, "no message beyond the limit")
          guard message.kind == .request else { break }
          connection.answer(number, BLIPMessage(.answer), following: Int64(number) * 1_000)
        case .part(let number, let part, let isLast):
          claim(part.count <= 1 << 20, "short parts")
          if !isLast, part.last == 0 { connection.withdraw(number) }
        case nil: break
        }
        if let number = connection.wanting { connection.supply([1, 2], to: number) }
      } catch {
        claim(error != .outOfMemory, "no lack of memory")
        break
      }
      claim(connection.heldBytes <= limits.openBytes, "no more is held than the limit")
      for _ in 0..<4 { claim(connection.nextFrame()?.count ?? 0 <= 16 << 10, "short frames") }
    }
    checkArrival(bytes)
  }

  private static func checkArrival(_ bytes: [UInt8]) {
    var one = BLIPConnection(limits)
    var other = BLIPConnection(limits)
    let parts = bytes.split(separator: 0, maxSplits: 4)
    let sent = parts.map { BLIPMessage(.request, ["Profile": "fuzz"], body: Array($0)) }
    for message in sent { _ = one.send(message) }
    var arrived: [UInt64: BLIPMessage] = [:]
    while let frame = one.nextFrame() {
      do {
        if case .message(let number, let message)? = try other.read(frame) {
          arrived[number] = message
        }
      } catch { claim(false, "what is sent is valid") }
    }
    claim(
      sent.indices.allSatisfy { arrived[UInt64($0 + 1)] == sent[$0] }, "what was sent arrives")
  }
}

extension BLIPConnection {
  /// Takes a frame, and reads all of it.
  fileprivate mutating func read(_ frame: [UInt8]) throws(BLIPError) -> Event? {
    try receive(frame)
    while true {
      let next = try proceed()
      if next.isRead { return next.event }
      claim(heldBytes <= 128 << 10, "no more is held than the limit")
    }
  }
}
