import HTTPTypes

extension HTTPFields {
  /// A field's value, as the subscript gives it, but not copied where the field comes once.
  func value(of name: HTTPField.Name) -> String? {
    guard let place = firstIndex(where: { $0.name == name }) else { return nil }
    guard !self[index(after: place)...].contains(where: { $0.name == name }) else {
      return self[name]
    }
    return self[place].value
  }
}
