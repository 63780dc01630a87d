extension JSONWriter {
  /// Writes a value with everything in it.
  package mutating func value(_ value: JSONValue) {
    switch value {
    case .null: null()
    case .bool(let value): bool(value)
    case .number(let value): number(value)
    case .string(let value): string(value)
    case .array(let values):
      beginArray()
      for element in values { self.value(element) }
      endArray()
    case .object(let object):
      beginObject()
      for (name, value) in object.members { member(name, value) }
      endObject()
    }
  }

  /// Writes a member whose value is a string.
  package mutating func member(_ name: String, _ value: String) {
    self.name(name)
    string(value)
  }

  /// Writes a member whose value is an integer.
  package mutating func member(_ name: String, _ value: Int) {
    self.name(name)
    int(value)
  }

  /// Writes a member whose value is `true` or `false`.
  package mutating func member(_ name: String, _ value: Bool) {
    self.name(name)
    bool(value)
  }

  /// Writes a member of any value.
  package mutating func member(_ name: String, _ value: JSONValue) {
    self.name(name)
    self.value(value)
  }

  /// Writes a member whose value is bytes that are one whole JSON value.
  package mutating func member(_ name: String, raw value: [UInt8]) {
    self.name(name)
    raw(value)
  }
}
