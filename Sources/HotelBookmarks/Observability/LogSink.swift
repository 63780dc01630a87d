import Lanes
import NIOConcurrencyHelpers
import SQLite

/// Log lines on their way to standard error, which may be a pipe whose reader has stopped: a request hands its
/// line over and goes on, and a thread of the sink's own writes.
///
/// A line that finds ``maximumBytes`` waiting is dropped and counted.
package final class LogSink: Sendable {
  /// Bytes of lines that wait at most: 1 MiB, some 5,000 lines.
  package static let maximumBytes = 1 << 20
  /// Seconds that ``finish(within:)`` waits at most: a stopped reader can't keep the process from ending.
  package static let finishSeconds = 1

  private struct Queue {
    var lines: [[UInt8]] = []
    var bytes = 0
    var dropped = 0
    /// Whether the thread writes, or is about to.
    var isWriting = false
  }

  private let queue = NIOLockedValueBox(Queue())
  private let writer: Writer

  /// A sink with nothing in it.
  /// - Parameter write: writes bytes, and may block.
  package init(write: @escaping @Sendable ([UInt8]) -> Void = { StandardError.write($0) }) {
    writer = Writer(write)
  }

  /// How many lines were dropped.
  package var droppedCount: Int { queue.withLockedValue { $0.dropped } }

  /// Takes a line, its line break included. Never waits.
  package func append(_ line: [UInt8]) {
    let mustWake = queue.withLockedValue { queue in
      guard queue.bytes + line.count <= Self.maximumBytes else {
        queue.dropped += 1
        return false
      }
      queue.lines.append(line)
      queue.bytes += line.count
      defer { queue.isWriting = true }
      return !queue.isWriting
    }
    if mustWake { Task { await writer.run { self.take() } } }
  }

  /// Waits until every line is written, for a while at most.
  package func finish(within limit: Duration = .seconds(finishSeconds)) async {
    let clock = ContinuousClock()
    let end = clock.now + limit
    while queue.withLockedValue({ $0.isWriting }), clock.now < end {
      try? await clock.sleep(for: .milliseconds(5))
    }
  }

  /// What waits; nil, and the thread's leave, when that is nothing.
  private func take() -> [[UInt8]]? {
    queue.withLockedValue { queue in
      guard !queue.lines.isEmpty else {
        queue.isWriting = false
        return nil
      }
      defer { (queue.lines, queue.bytes) = ([], 0) }
      return queue.lines
    }
  }

  /// Writes on a thread of its own.
  private actor Writer {
    private let lane = Lane(name: "log")
    private let write: @Sendable ([UInt8]) -> Void

    nonisolated var unownedExecutor: UnownedSerialExecutor { lane.asUnownedSerialExecutor() }

    init(_ write: @escaping @Sendable ([UInt8]) -> Void) { self.write = write }

    func run(_ next: @Sendable () -> [[UInt8]]?) {
      while let lines = next() {
        for line in lines { write(line) }
      }
    }
  }
}
