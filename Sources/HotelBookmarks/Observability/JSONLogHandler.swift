package import Documents
package import Logging

/// Writes log lines to standard error, one JSON object a line.
package struct JSONLogHandler: LogHandler {
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
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("time", now().rfc3339)
    writer.member("level", event.level.rawValue)
    writer.member("logger", label)
    writer.member("message", "\(event.message)")
    let all = metadata.merging(event.metadata ?? [:]) { _, own in own }
    for (key, value) in all.sorted(by: { $0.key < $1.key }) { writer.member(key, "\(value)") }
    writer.endObject()
    sink.append(writer.bytes + [0x0A])
  }
}
