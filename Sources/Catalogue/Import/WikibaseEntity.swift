import Documents

/// An entity of Wikidata or of another Wikibase, as its dumps, its API and `Special:EntityData` have it: labels in all
/// languages, and statements under the numbers of properties.
///
/// <https://doc.wikimedia.org/Wikibase/master/php/docs_topics_json.html>
struct WikibaseEntity {
  /// The hotel, with the names that Wikidata gives the properties.
  private(set) var facts = JSONObject()
  /// What else the entity has.
  let rest: JSONObject

  /// Nil for another object.
  init?(_ object: JSONObject) {
    guard Self.isOne(object) else { return nil }
    for (name, value) in [
      ("id", object["id"]), ("label", Self.text(object["labels"])),
      ("description", Self.text(object["descriptions"])),
    ] {
      if let value { facts.append(name, value) }
    }
    for (property, name) in Self.properties {
      guard let value = object["claims"]?[property].flatMap(Self.value) else { continue }
      facts.append(name, value)
    }
    var rest = object
    for name in ["id", "labels", "descriptions", "title"] { rest[name] = nil }
    self.rest = rest
  }

  /// Whether an object is an entity. Without labels or statements, PHP writes an empty list for them.
  static func isOne(_ object: JSONObject) -> Bool {
    object["claims"] != nil && object["labels"]?.object != nil && object["id"]?.string != nil
  }

  /// The text in English, for all languages, or in the first one.
  private static func text(_ texts: JSONValue?) -> JSONValue? {
    (texts?["en"] ?? texts?["mul"] ?? texts?.object?.members.first?.value)?["value"]
  }

  /// The value of the preferred statement, else of the first one that is not deprecated.
  private static func value(_ statements: JSONValue) -> JSONValue? {
    let valid = (statements.array ?? []).filter { $0["rank"]?.string != "deprecated" }
    let best = valid.first { $0["rank"]?.string == "preferred" } ?? valid.first
    guard let value = best?["mainsnak"]?["datavalue"]?["value"] else { return nil }
    if let text = value["text"] { return text }
    if let text = value.string, text.hasPrefix("mailto:") {
      return .string(String(text.dropFirst(7)))
    }
    return value
  }

  private static let properties = [
    ("P625", "coordinate location"), ("P6375", "street address"), ("P281", "postal code"),
    ("P1329", "phone number"), ("P968", "email address"), ("P856", "website"),
  ]
}
