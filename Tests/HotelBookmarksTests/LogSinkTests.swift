import Dispatch
import HotelBookmarks
import Synchronization
import Testing

@Suite struct LogSinkTests {
  /// The lines that were written. Writes wait until `isReading` is signalled.
  private final class Reader: Sendable {
    private let lines = Mutex<[[UInt8]]>([])
    let isReading = DispatchSemaphore(value: 0)

    var written: [[UInt8]] { lines.withLock { $0 } }

    func write(_ line: [UInt8]) {
      isReading.wait()
      isReading.signal()
      lines.withLock { $0.append(line) }
    }
  }

  @Test(.bug(id: "F24")) func stoppedReaderHoldsUpNobodyAndDropsAreCounted() async {
    let reader = Reader()
    let sink = LogSink { reader.write($0) }
    let line = [UInt8](repeating: 0x61, count: 1_024)
    // One write may already be waiting, so the sink accepts that much in addition to its limit.
    for _ in 0..<3 * LogSink.maximumBytes / line.count { sink.append(line) }
    #expect(sink.droppedCount >= LogSink.maximumBytes / line.count)
    #expect(reader.written.isEmpty)
    let kept = 3 * LogSink.maximumBytes / line.count - sink.droppedCount
    reader.isReading.signal()
    while reader.written.count < kept { try? await Task.sleep(for: .milliseconds(1)) }
    sink.append([0x62])
    while reader.written.last != [0x62] { try? await Task.sleep(for: .milliseconds(1)) }
    await sink.finish(within: .seconds(600))
    #expect(reader.written.count == kept + 1)
  }

  /// Regression: a client that reset its requests wrote a line with each, 200 kB a second.
  @Test func linesOfOneKindAreFewInTheLongRun() {
    let now = Mutex<Int64>(5)
    let sink = LogSink(write: { _ in }, clock: { now.withLock { $0 } })
    func admitted(_ kind: String) -> Int64 {
      (0..<2 * LogSink.burst).reduce(0) { count, _ in count + (sink.admits(kind) ? 1 : 0) }
    }
    #expect(admitted("a") == LogSink.burst && admitted("b") == LogSink.burst)
    now.withLock { $0 += 3_000_000_000 }
    #expect(admitted("a") == 3 * LogSink.perSecond)
    now.withLock { $0 += 3_600_000_000_000 }
    #expect(admitted("a") == LogSink.burst)
    #expect(sink.droppedCount == Int(5 * LogSink.burst - 3 * LogSink.perSecond))
  }

  @Test func linesAreWrittenInTheirOrderAndFinishWaitsForThem() async {
    let reader = Reader()
    reader.isReading.signal()
    let sink = LogSink { reader.write($0) }
    for number in 0..<1_000 { sink.append(Array("\(number)\n".utf8)) }
    await sink.finish(within: .seconds(600))
    let wanted = (0..<1_000).map { Array("\($0)\n".utf8) }
    #expect(reader.written == wanted)
    #expect(sink.droppedCount == 0)
  }
}
