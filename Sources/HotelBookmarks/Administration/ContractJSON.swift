import CYAML
import Documents

/// Converts the API description from YAML, in which people write it, to JSON, once at the start.
///
/// Members keep their order, so that the page at `/docs` shows operations in the order of the description. libyaml
/// parses it: Swift's packages for YAML need all of Foundation, which would make the image half as large again
/// (<doc:ImageFromScratch>).
struct ContractJSON {
  private var writer = JSONWriter()
  /// The open containers, the innermost last.
  private var open: [Container] = []

  private enum Container {
    case sequence
    /// Whether a member's name comes next.
    case mapping(expectsName: Bool)
  }

  /// The document as JSON.
  /// - Throws: ``SettingsError`` for invalid YAML and for aliases; neither occurs in a build.
  static func bytes(ofYAML text: [UInt8]) throws -> [UInt8] {
    var parser = yaml_parser_t()
    guard yaml_parser_initialize(&parser) == 1 else { throw unreadable("no memory") }
    defer { yaml_parser_delete(&parser) }
    return try text.withUnsafeBufferPointer { bytes in
      yaml_parser_set_input_string(&parser, bytes.baseAddress, bytes.count)
      var json = ContractJSON()
      var event = yaml_event_t()
      repeat {
        guard yaml_parser_parse(&parser, &event) == 1 else {
          let problem = parser.problem.map { String(cString: $0) } ?? "unknown"
          throw unreadable("line \(parser.problem_mark.line + 1): \(problem)")
        }
        defer { yaml_event_delete(&event) }
        guard event.type != YAML_STREAM_END_EVENT else { return json.writer.bytes }
        try json.take(event)
      } while true
    }
  }

  private static func unreadable(_ reason: String) -> SettingsError {
    SettingsError("The contract in the program can't be read: \(reason)")
  }

  private mutating func take(_ event: yaml_event_t) throws {
    switch event.type {
    case YAML_MAPPING_START_EVENT:
      willWriteValue()
      open.append(.mapping(expectsName: true))
      writer.beginObject()
    case YAML_MAPPING_END_EVENT:
      open.removeLast()
      writer.endObject()
    case YAML_SEQUENCE_START_EVENT:
      willWriteValue()
      open.append(.sequence)
      writer.beginArray()
    case YAML_SEQUENCE_END_EVENT:
      open.removeLast()
      writer.endArray()
    case YAML_SCALAR_EVENT:
      let scalar = event.data.scalar
      let text = String(
        decoding: UnsafeBufferPointer(start: scalar.value, count: scalar.length), as: UTF8.self)
      if case .mapping(expectsName: true)? = open.last {
        open[open.count - 1] = .mapping(expectsName: false)
        return writer.name(text)
      }
      willWriteValue()
      write(text, isPlain: scalar.style == YAML_PLAIN_SCALAR_STYLE)
    case YAML_ALIAS_EVENT: throw Self.unreadable("it has an alias")
    default: break
    }
  }

  /// Notes that after this value of a member the next name is expected.
  private mutating func willWriteValue() {
    if case .mapping? = open.last { open[open.count - 1] = .mapping(expectsName: true) }
  }

  /// Writes a scalar. A plain one may be a number, a boolean or null; one in quotation marks is a string.
  private mutating func write(_ text: String, isPlain: Bool) {
    guard isPlain else { return writer.string(text) }
    switch text {
    case "true", "false": writer.bool(text == "true")
    case "null", "~", "": writer.null()
    default:
      if let number = try? JSONValue(parsing: Array(text.utf8), limits: .small).number {
        writer.number(number)
      } else {
        writer.string(text)
      }
    }
  }
}
