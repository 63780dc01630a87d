package import Documents
package import Logging

/// Writes log lines for people: time, level, logger, metadata by name, message.
package struct TextLogHandler: LogHandler {
  package var metadata: Logger.Metadata = [:]
  package var logLevel: Logger.Level = .info
  private let label: String
  private let sink: LogSink
  private let now: @Sendable () -> Timestamp

  /// A handler of one logger.
  package init(label: String, sink: LogSink, now: @escaping @Sendable () -> Timestamp) {
    self.label = label
    self.sink = sink
    self.now = now
  }

  package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  package func log(event: LogEvent) {
    let all = metadata.merging(event.metadata ?? [:]) { _, own in own }
    let pairs = all.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
    let line = "\(now().rfc3339) \(event.level.rawValue) \(label):\(pairs) \(event.message)"
    // One line each, whatever a value holds.
    sink.append(line.utf8.map { $0 == 0x0A || $0 == 0x0D ? 0x20 : $0 } + [0x0A])
  }
}
