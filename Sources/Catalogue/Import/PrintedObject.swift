import Documents

/// Objects as programs print them, which exports then have as texts: Java's map `{lat=48.9, lng=2.3}`, as Athena and
/// Google's Apps Script write a record, too, classes, data classes and records, `LatLng{lat=48.9, lng=2.3}`,
/// `LatLng(lat=48.9, lng=2.3)`, `LatLng[lat=48.9, lng=2.3]`, Cassandra's `{lat: 48.9, lng: 2.3}`, Rust's
/// `LatLng { lat: 48.9, lng: 2.3 }` and Neo4j's `point({x:2.3, y:48.9})`.
enum PrintedObject {
  /// The object that a text means, with texts as values; nil for another text.
  static func read(_ text: String) -> JSONObject? {
    guard let last = text.utf8.last, "})]".utf8.contains(last), text.utf8.count <= longest,
      text.utf8.contains(where: { signs.utf8.contains($0) })
    else { return nil }
    let name = text.prefix { $0.isLetter || $0.isNumber || "._$".contains($0) }
    let rest = text.dropFirst(name.count).drop { $0 == " " }
    guard let open = rest.first, let close = brackets[open], rest.last == close else { return nil }
    let inner = rest.dropFirst().dropLast()
    // A call with an object.
    if open == "(", inner.first == "{", !name.isEmpty { return read(String(inner)) }
    // A remark in brackets has a space or a colon.
    let isBraced = open == "{"
    guard isBraced || !name.isEmpty && name.endIndex == rest.startIndex,
      name.first?.isNumber != true
    else { return nil }
    var object = JSONObject()
    for (name, value) in pairs(inner, between: isBraced ? signs : "=") ?? [] where value != "null" {
      object.append(name, .string(value))
    }
    // One pair behind a name may be an argument: `room(n=2)`.
    return object.count > (name.isEmpty ? 0 : 1) ? object : nil
  }

  /// Whether a text is a value of a program, not one for people: brackets, or a call.
  static func isOne(_ text: String) -> Bool {
    let rest = text.drop { $0.isLetter || $0.isNumber || "._$".contains($0) }
    guard let open = rest.first, let close = brackets[open] else { return false }
    return rest.last == close
  }

  /// The names with their values. A value may have commas and brackets.
  private static func pairs(
    _ text: Substring, between signs: String
  ) -> [(name: String, value: String)]? {
    var pairs: [(name: String, value: String)] = []
    var depth = 0
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let plain = part.drop { $0 == " " }
      let name = plain.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
      let rest = plain.dropFirst(name.count)
      if depth == 0, !name.isEmpty, let sign = rest.first, signs.contains(sign) {
        pairs.append((String(name), String(rest.dropFirst())))
      } else {
        guard let last = pairs.indices.last else { return nil }
        pairs[last].value += "," + part
      }
      for byte in part.utf8 {
        if "{[(".utf8.contains(byte) { depth += 1 }
        if "}])".utf8.contains(byte) { depth -= 1 }
      }
    }
    return pairs.map { ($0.name, $0.value.trimmed.unquoted) }
  }

  private static let brackets: [Character: Character] = ["{": "}", "(": ")", "[": "]"]
  /// What stands between a name and its value.
  private static let signs = "=:"
  /// The most bytes that are looked at.
  private static let longest = 1 << 12
}
