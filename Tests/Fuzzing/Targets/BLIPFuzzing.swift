import BLIP

/// BLIP: no frames make a connection hold more than its limits, and what was sent arrives.
enum BLIPFuzzing {
  private static let limits = BLIPLimits(messageBytes: 64 << 10, openBytes: 128 << 10)

  /// The bytes are frames, each after its length in two bytes.
  static func check(_ bytes: [UInt8]) {
    var connection = BLIPConnection(limits)
    // Some requests, whose answers and acknowledgements may come.
    for size in [0, 200_000] {
      _ = connection.send(BLIPMessage(.request, body: Array(repeating: 1, count: size)))
    }
    var rest = bytes[...]
    while rest.count > 1, let high = rest.popFirst(), let low = rest.popFirst() {
      let frame = Array(rest.prefix(Int(high) << 8 | Int(low)))
      rest = rest.dropFirst(frame.count)
      do {
        guard let (number, message) = try connection.receive(frame) else { continue }
        claim(message.body.count <= limits.messageBytes, "no message beyond the limit")
        if message.kind == .request { connection.answer(number, BLIPMessage(.answer)) }
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
        if let (number, message) = try other.receive(frame) { arrived[number] = message }
      } catch { claim(false, "what is sent is valid") }
    }
    claim(
      sent.indices.allSatisfy { arrived[UInt64($0 + 1)] == sent[$0] }, "what was sent arrives")
  }
}
