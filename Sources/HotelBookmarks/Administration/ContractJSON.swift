import JSON
import Yams

/// Makes JSON of the contract, which people write in YAML, once at the start.
///
/// Members keep their order, so that the page at `/docs` shows operations as the contract has them.
enum ContractJSON {
  /// The document as JSON, aliases resolved.
  /// - Throws: ``SettingsError`` for a text that is no YAML, which no build has.
  static func bytes(ofYAML text: [UInt8]) throws -> [UInt8] {
    let document: Node?
    do { document = try Yams.compose(yaml: String(decoding: text, as: UTF8.self)) } catch {
      throw SettingsError(description: "The contract in the program can't be read: \(error)")
    }
    var writer = JSONWriter()
    if let document { write(document, to: &writer) } else { writer.null() }
    return writer.bytes
  }

  private static func write(_ node: Node, to writer: inout JSONWriter) {
    switch node {
    case .mapping(let mapping):
      writer.beginObject()
      for (name, value) in mapping {
        writer.name(name.scalar?.string ?? "")
        write(value, to: &writer)
      }
      writer.endObject()
    case .sequence(let sequence):
      writer.beginArray()
      for element in sequence { write(element, to: &writer) }
      writer.endArray()
    case .scalar(let scalar): write(scalar, to: &writer)
    case .alias: writer.null()
    }
  }

  /// A plain scalar may be a number or a word of JSON's; one in quotes is a text.
  private static func write(_ scalar: Node.Scalar, to writer: inout JSONWriter) {
    guard scalar.style == .plain else { return writer.string(scalar.string) }
    switch scalar.string {
    case "true", "false": writer.bool(scalar.string == "true")
    case "null", "~", "": writer.null()
    case let text:
      if let number = try? JSONValue(parsing: Array(text.utf8), limits: .small).number {
        writer.number(number)
      } else {
        writer.string(text)
      }
    }
  }
}
