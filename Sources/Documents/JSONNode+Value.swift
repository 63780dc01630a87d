extension JSONNode {
  /// The value apart from its text.
  package var value: JSONValue {
    switch text.tape.token(index) {
    case .null, .unused:
      return .null
    case .no:
      return .bool(false)
    case .yes:
      return .bool(true)
    case .number:
      return number.map { .number($0) } ?? .null
    case .string:
      return .string(text.string(index))
    case .array:
      var values: [JSONValue] = []
      values.reserveCapacity(count)
      for element in elements { values.append(element.value) }
      return .array(values)
    case .object:
      return .object(JSONObject(checked: members, count: count))
    }
  }
}
