import Documents

/// The forms in which files have a hotel's amenities.
enum AmenityForms {
  /// The amenities in a value: texts, objects with a name, flags, groups of those, or one text. Nil for anything else.
  static func texts(_ value: JSONValue) -> [String]? {
    switch value {
    case .array(let values):
      let texts = values.flatMap(some)
      return texts.isEmpty && !values.isEmpty ? nil : texts
    case .object(let object):
      let texts = object.members.flatMap { flag($0.name, $0.value) }
      return texts.isEmpty && !object.isEmpty ? nil : texts
    case .string(let text): return split(text)
    default: return nil
    }
  }

  /// The amenities of an element: one, or those of a group with a list of them.
  private static func some(_ value: JSONValue) -> [String] {
    let group = value.object?.members.first {
      (HotelAliases.match($0.name.utf8)?.meaning == .amenities
        || ["items", "list"].contains($0.name))
        && ($0.value.array?.isEmpty == false || $0.value.object != nil)
    }
    // A row of a table between hotels and amenities has one object.
    return group?.value.array?.compactMap(one) ?? [one(group?.value ?? value)].compactMap(\.self)
  }

  private static func one(_ value: JSONValue) -> String? {
    switch value {
    case .string(let text):
      let plain = HTMLText.plain(text, lineEnd: " ").trimmed
      return plain.isEmpty ? nil : plain
    case .object(let object):
      // schema.org's LocationFeatureSpecification has a flag beside the name.
      // Hotelbeds has `indYesOrNo`.
      for name in ["value", "available", "indYesOrNo"] {
        if let value = object[name], AmenityFlags.flag(value) == false { return nil }
      }
      // Other languages have the hotel's word for a name: `nombre`.
      let word = object.members.first {
        HotelAliases.table[HotelAliases.letters(of: $0.name.utf8)]?.meaning == .name
      }?.name
      for name in Self.names + [word ?? "libelle", "description", "value", "code"] {
        guard let inner = object[name], inner.string != nil || inner.object != nil,
          let text = TextForms.text(inner), !text.isEmpty
        else { continue }
        return text
      }
      return nil
    default: return nil
    }
  }

  private static let names = [
    "name", "title", "label", "text", "amenity", "amenityName", "facilityName",
  ]

  /// The amenities of one member: `"wifi": true`, one under its number, or a group with a list of them.
  private static func flag(_ name: String, _ value: JSONValue) -> [String] {
    switch value {
    case .bool(true): [AmenityFlags.words(name)]
    case .array(let values): values.compactMap(one)
    case .object(let object):
      object["available"] == .bool(true) && one(value) == nil
        ? [AmenityFlags.words(name)] : [one(value)].compactMap(\.self)
    case .string, .number: AmenityFlags.flag(value) == true ? [AmenityFlags.words(name)] : []
    default: []
    }
  }

  /// The parts of one text: a list as JSON, Python or PostgreSQL write it, or parts between bars, semicolons, lines or
  /// commas.
  private static func split(_ text: String) -> [String] {
    var text = HTMLText.plain(text).trimmed
    if let value = try? JSONValue(parsing: Array(text.utf8), limits: .small),
      value.array != nil || value.object != nil
    {
      return texts(value) ?? []
    }
    for (open, close) in [("[", "]"), ("{", "}")]
    where text.hasPrefix(open) && text.hasSuffix(close) {
      text = String(text.dropFirst().dropLast())
    }
    // NumPy writes a list without commas.
    text = text.replacing("' '", with: "','")
    let separators: [Character] = ["|", ";", "\n", "、", "，", "；", "،", "؛", ",", "•", "·", "・"]
    let found = separators.first { text.contains($0) }
    if found == nil { text = text.replacing(" / ", with: ",").replacing(" + ", with: ",") }
    let separator = found ?? ","
    return text.split(separator: separator)
      .map { withoutBullet(String($0).trimmed).unquoted.trimmed }.filter { !$0.isEmpty }
  }

  /// A line of a list without the sign before it: `- Wifi`, `* Pool`, `✓ Spa`.
  private static func withoutBullet(_ text: String) -> String {
    guard let first = text.first, "-*–•●▪·✓✔+".contains(first) else { return text }
    let rest = text.dropFirst()
    return rest.first == " " ? String(rest).trimmed : text
  }
}

extension String {
  /// The text without the quotation marks around it.
  var unquoted: String {
    count > 1 && first == last && "'\"".contains(prefix(1)) ? String(dropFirst().dropLast()) : self
  }

  /// The text without white space around it.
  var trimmed: String {
    func isSpace(_ scalar: Unicode.Scalar) -> Bool {
      scalar.properties.isWhitespace || [0xFEFF, 0x200B, 0x2060, 0].contains(scalar.value)
    }
    let scalars = unicodeScalars
    guard let first = scalars.firstIndex(where: { !isSpace($0) }),
      let last = scalars.lastIndex(where: { !isSpace($0) })
    else { return "" }
    return String(scalars[first...last])
  }
}
