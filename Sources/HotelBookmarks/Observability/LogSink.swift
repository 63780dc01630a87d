import Documents
package import Logging
import NIOConcurrencyHelpers
import Scheduling

/// Writes log lines to standard error, which may be a pipe that no process reads. A request hands over its line and
/// continues; a separate thread of the sink writes it.
///
/// If more than ``maximumBytes`` would wait, the line is dropped and counted. So is a line of a kind of which there are
/// too many: a client that meets an error again and again must not fill the operator's disk.
package final class LogSink: Sendable {
  /// The maximum of bytes that wait: 1 MiB, about 5,000 lines.
  package static let maximumBytes = 1 << 20
  /// The maximum of seconds that ``finish(within:)`` waits, so that a blocked pipe can't keep the process from ending.
  package static let finishSeconds = 1

  /// How many lines of a kind are written at once, and how many in each second after that.
  package static let (burst, perSecond): (Int64, Int64) = (200, 10)
  /// How many kinds are known at most. Messages are static, so there are fewer, unless an error's name is not.
  private static let maximumKinds = 1_000

  private struct Queue {
    /// When a line of each kind would be due if they came at their rate, in nanoseconds of the clock.
    var due: [String: Int64] = [:]
    var lines: [[UInt8]] = []
    var bytes = 0
    var dropped = 0
    /// Whether the thread is writing or is about to write.
    var isWriting = false
  }

  private let queue = NIOLockedValueBox(Queue())
  private let threads = ThreadPool(name: "log")
  private let clock: @Sendable () -> Int64
  private let write: @Sendable ([UInt8]) -> Void

  /// An empty sink.
  /// - Parameter write: writes bytes, and may block.
  /// - Parameter clock: a monotonic clock in nanoseconds.
  package init(
    write: @escaping @Sendable ([UInt8]) -> Void = { StandardError.write($0) },
    clock: @escaping @Sendable () -> Int64 = { SliceClock.now }
  ) {
    (self.clock, self.write) = (clock, write)
  }

  package var droppedCount: Int { queue.withLockedValue { $0.dropped } }

  /// Whether one more line of a kind may be written; if not, it is counted as dropped.
  package func admits(_ kind: String) -> Bool {
    let (now, interval) = (clock(), 1_000_000_000 / Self.perSecond)
    return queue.withLockedValue { queue in
      if queue.due.count >= Self.maximumKinds { queue.due = queue.due.filter { $0.value > now } }
      let due = max(queue.due[kind] ?? now, now)
      guard due - now <= interval * (Self.burst - 1), queue.due.count < Self.maximumKinds else {
        queue.dropped += 1
        return false
      }
      queue.due[kind] = due + interval
      return true
    }
  }

  /// Adds a line, with its line break. It never waits.
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
    if mustWake { threads.enqueue { self.writeAll() } }
  }

  /// Waits until every line is written, but at most for `limit`.
  package func finish(within limit: Duration = .seconds(finishSeconds)) async {
    let clock = ContinuousClock()
    let end = clock.now + limit
    while queue.withLockedValue({ $0.isWriting }), clock.now < end {
      try? await clock.sleep(for: .milliseconds(5))
    }
  }

  /// The waiting lines; nil if there are none, and the thread then stops writing.
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

  private func writeAll() {
    while let lines = take() {
      for line in lines { write(line) }
    }
  }
}

/// Writes log lines to standard error: as text (time, level, logger, message, metadata by name) or as JSON objects.
package struct LineLogHandler: LogHandler {
  package var metadata: Logger.Metadata = [:]
  package var logLevel: Logger.Level = .info
  let format: Settings.LogFormat
  let label: String
  let sink: LogSink
  let now: @Sendable () -> Timestamp

  package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  package func log(event: LogEvent) {
    // What is below `info` is written only for an operator who asks for it.
    let error = event.metadata?["error"].map { "\($0)" } ?? ""
    guard event.level < .info || sink.admits("\(event.message) \(error)") else { return }
    let all = metadata.merging(event.metadata ?? [:]) { _, own in own }.sorted { $0.key < $1.key }
    switch format {
    case .text: sink.append(text(event, all) + [0x0A])
    case .json: sink.append(json(event, all) + [0x0A])
    }
  }

  private typealias Pairs = [(key: String, value: Logger.Metadata.Value)]

  private func text(_ event: LogEvent, _ metadata: Pairs) -> [UInt8] {
    let pairs = metadata.map { " \($0.key)=\($0.value)" }.joined()
    let line = "\(now().rfc3339) \(event.level.rawValue) \(label): \(event.message)\(pairs)"
    // One line for each event, whatever a value contains.
    return line.utf8.map { $0 == 0x0A || $0 == 0x0D ? 0x20 : $0 }
  }

  private func json(_ event: LogEvent, _ metadata: Pairs) -> [UInt8] {
    JSONWriter.object { writer in
      writer.member("time", now().rfc3339)
      writer.member("level", event.level.rawValue)
      writer.member("logger", label)
      writer.member("message", "\(event.message)")
      for (key, value) in metadata { writer.member(key, "\(value)") }
    }
  }
}
