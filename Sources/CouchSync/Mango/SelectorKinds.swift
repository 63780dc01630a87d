import Documents

/// The ranges of the kinds of values: the ends are the least values of each kind and of the next.
enum SelectorKinds {
  /// All numbers.
  static let numbers = FieldBounds(
    lower: node("true"), includesLower: false, upper: node("\"\""), includesUpper: false)
  /// All strings.
  static let strings = FieldBounds(
    lower: node("\"\""), upper: node("[]"), includesUpper: false)
  /// All arrays.
  static let arrays = FieldBounds(lower: node("[]"), upper: node("{}"), includesUpper: false)
  /// All objects.
  static let objects = FieldBounds(lower: node("{}"), upper: nil)

  /// The range of the kind that `$type` names; nil for a name that none has.
  static func bounds(ofType name: String) -> FieldBounds? {
    switch name {
    case "null": FieldBounds(lower: node("null"), upper: node("null"))
    case "boolean": FieldBounds(lower: node("false"), upper: node("true"))
    case "number": numbers
    case "string": strings
    case "array": arrays
    case "object": objects
    default: nil
    }
  }

  /// A string as a value of its own; nil if it is longer than a string may be.
  static func string(_ text: String) -> JSONNode? {
    node(String(decoding: JSONValue.string(text).bytes, as: UTF8.self))
  }

  private static func node(_ text: String) -> JSONNode? {
    try? ParsedJSON(Array(text.utf8), limits: .document).root
  }
}
