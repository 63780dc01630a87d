package import Documents
package import Logging

/// Writes log lines to standard error: as text (time, level, logger, message, metadata by name) or as JSON objects.
package struct LineLogHandler: LogHandler {
  package var metadata: Logger.Metadata = [:]
  package var logLevel: Logger.Level = .info
  private let format: Settings.LogFormat
  private let label: String
  private let sink: LogSink
  private let now: @Sendable () -> Timestamp

  /// A handler of one logger.
  package init(
    _ format: Settings.LogFormat, label: String, sink: LogSink,
    now: @escaping @Sendable () -> Timestamp
  ) {
    self.format = format
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
      .sorted { $0.key < $1.key }
    switch format {
    case .text: sink.append(text(event, all) + [0x0A])
    case .json: sink.append(json(event, all) + [0x0A])
    }
  }

  private typealias Pairs = [(key: String, value: Logger.Metadata.Value)]

  private func text(_ event: LogEvent, _ metadata: Pairs) -> [UInt8] {
    let pairs = metadata.map { " \($0.key)=\($0.value)" }.joined()
    let line = "\(now().rfc3339) \(event.level.rawValue) \(label): \(event.message)\(pairs)"
    // One line each, whatever a value holds.
    return line.utf8.map { $0 == 0x0A || $0 == 0x0D ? 0x20 : $0 }
  }

  private func json(_ event: LogEvent, _ metadata: Pairs) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("time", now().rfc3339)
    writer.member("level", event.level.rawValue)
    writer.member("logger", label)
    writer.member("message", "\(event.message)")
    for (key, value) in metadata { writer.member(key, "\(value)") }
    writer.endObject()
    return writer.bytes
  }
}
