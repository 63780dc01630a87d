/// A JSON value of its own, for code that builds, compares or changes values. A stored body is kept as bytes instead;
/// see ``ParsedJSON``.
package enum JSONValue: Sendable {
  case null
  case bool(Bool)
  /// A number as written.
  case number(JSONNumber)
  /// A string; equal to another one only if both have the same bytes.
  case string(String)
  case array([JSONValue])
  /// An object; equal to another one whatever the order of their members.
  case object(JSONObject)

  /// Parses one JSON text. Throws the same errors as ``ParsedJSON/init(_:limits:)``.
  package init(parsing bytes: [UInt8], limits: JSONLimits) throws(JSONError) {
    self = try ParsedJSON(bytes, limits: limits).root.value
  }

  /// The Boolean; nil for any other kind.
  package var bool: Bool? {
    guard case .bool(let value) = self else { return nil }
    return value
  }

  /// The number; nil for any other kind.
  package var number: JSONNumber? {
    guard case .number(let value) = self else { return nil }
    return value
  }

  /// The integer, when this is a number without a point or an exponent that fits into `Int`; otherwise nil.
  package var int: Int? { number?.int }

  /// The string; nil for any other kind.
  package var string: String? {
    guard case .string(let value) = self else { return nil }
    return value
  }

  /// The elements of an array; nil for any other kind.
  package var array: [JSONValue]? {
    guard case .array(let value) = self else { return nil }
    return value
  }

  /// The object; nil for any other kind.
  package var object: JSONObject? {
    guard case .object(let value) = self else { return nil }
    return value
  }

  /// The value of the member whose name has exactly these UTF-8 bytes; nil when there is none or this is not an object.
  package subscript(name: String) -> JSONValue? { object?[name] }

  /// The value as JSON: no white space, members in their order, strings with the fewest escapes.
  package var bytes: [UInt8] {
    var output: [UInt8] = []
    appendBytes(to: &output)
    return output
  }

  /// Appends the value as JSON; see ``bytes``.
  package func appendBytes(to output: inout [UInt8]) {
    var writer = JSONWriter(appendingTo: output)
    output = []
    writer.value(self)
    output = writer.bytes
  }
}

extension JSONValue: Equatable {
  /// Whether two values are equal: strings by their bytes, numbers as written, objects whatever the order of their
  /// members.
  package static func == (one: JSONValue, other: JSONValue) -> Bool {
    switch (one, other) {
    case (.null, .null): true
    case (.bool(let left), .bool(let right)): left == right
    case (.number(let left), .number(let right)): left == right
    case (.string(let left), .string(let right)): JSONBytes.same(left, right)
    case (.array(let left), .array(let right)): left == right
    case (.object(let left), .object(let right)): left == right
    default: false
    }
  }
}

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByIntegerLiteral,
  ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  package init(nilLiteral: ()) { self = .null }

  package init(booleanLiteral value: Bool) { self = .bool(value) }

  package init(integerLiteral value: Int) { self = .number(JSONNumber(value)) }

  package init(stringLiteral value: String) { self = .string(value) }

  package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }

  /// An object; when a name occurs twice, the last value wins.
  package init(dictionaryLiteral elements: (String, JSONValue)...) {
    self = .object(JSONObject(elements))
  }
}
