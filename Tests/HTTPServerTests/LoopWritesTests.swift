import NIOCore
import NIOEmbedded
import Synchronization
import Testing

@testable import HTTPServer

/// An event loop whose writes take a known time.
@Suite(.timeLimit(.minutes(60))) struct LoopWritesTests {
  private let loop = EmbeddedEventLoop()
  private let record = Record()
  private let writes: LoopWrites

  /// What was written, in its order. Each write takes a millisecond.
  private final class Record: Sendable {
    private let state = Mutex((now: NIODeadline.uptimeNanoseconds(1_000_000_000), lines: [Int]()))

    var now: NIODeadline { state.withLock { $0.now } }
    var lines: [Int] { state.withLock { $0.lines } }

    func write(_ line: Int) {
      state.withLock { state in
        state.lines.append(line)
        state.now = state.now + .milliseconds(1)
      }
    }

    func wait(_ time: TimeAmount) { state.withLock { $0.now = $0.now + time } }
  }

  init() {
    let record = record
    writes = LoopWrites(on: loop) { record.now }
  }

  private func append(_ line: Int) {
    let record = record
    writes.append { record.write(line) }
  }

  private func pause() {
    record.wait(ReadTurns.pause)
    loop.advanceTime(by: ReadTurns.pause)
  }

  /// Regression: tasks that answered pipelined requests kept the loop from all sockets for half a second.
  @Test func loopLooksAtItsSocketsAfterTwoMilliseconds() {
    for line in 1...5 { append(line) }
    loop.run()
    #expect(record.lines == [1, 2])
    append(6)
    loop.run()
    #expect(record.lines == [1, 2])
    pause()
    #expect(record.lines == [1, 2, 3, 4])
    pause()
    #expect(record.lines == [1, 2, 3, 4, 5, 6])
  }

  /// NIO does what is due at once before it looks at its sockets, also if each write comes when the one before is done.
  @Test func writesOneBehindTheOtherAreOneRun() {
    for line in 1...3 {
      append(line)
      loop.run()
    }
    #expect(record.lines == [1, 2])
    pause()
    #expect(record.lines == [1, 2, 3])
    pause()
    for line in 4...5 {
      append(line)
      loop.run()
    }
    #expect(record.lines == [1, 2, 3, 4, 5])
  }

  @Test func nothingOvertakesAnAnswer() async throws {
    let channel = NIOAsyncTestingChannel()
    let outlet = AnswerOutlet(channel, DateField(), PerEventLoop { LoopWrites(on: $0) })
    let record = record
    for line in 1...3 { outlet.append { record.write(line) } }
    await outlet.settle()
    #expect(record.lines == [1, 2, 3] && outlet.unwrittenCount == 0)
    await outlet.settle()
  }
}
