import Documents

/// Values with their names beside them: the custom fields of ClickUp and Asana, the columns of Monday, the attributes of
/// Magento, the metadata of WooCommerce, and the tags that GDAL reads from OpenStreetMap.
enum NamedValues {
  /// The object that a value is, the first one of a list, or the one that such a list means.
  static func object(_ value: JSONValue) -> JSONObject? {
    if let object = value.object { return object }
    if let text = value.string { return written(text) ?? PrintedObject.read(text) ?? hstore(text) }
    guard let values = value.array else { return nil }
    var object = JSONObject()
    for member in values {
      guard let name = name(of: member) else { return values.first?.object }
      let value = ["text", "display_value", "value"].lazy.compactMap { member[$0] }.first
      if let value, value != .null, object[name] == nil { object.append(name, value) }
    }
    return object.isEmpty ? values.first?.object : object
  }

  /// The object that a list of names with their values means, if one of them is a hotel's: `data` of Collection+JSON.
  /// <https://github.com/collection-json/spec>
  static func pairs(_ value: JSONValue) -> JSONObject? {
    guard let values = value.array, !values.isEmpty,
      values.allSatisfy({ $0["name"]?.string != nil && $0["value"] != nil })
    else { return nil }
    return object(value).flatMap { WrappedRow.hasName($0) ? $0 : nil }
  }

  /// The value that a text means if it is an object in JSON, or as Python or another program prints it; else the text.
  /// - Parameter isText: whether the value is a text for people, which may have a word with brackets behind it.
  static func read(_ value: JSONValue, isText: Bool) -> JSONValue {
    guard let text = value.string else { return value }
    let object = written(text) ?? (isText ? nil : PrintedObject.read(text))
    return object.map { .object($0) } ?? value
  }

  private static func written(_ text: String) -> JSONObject? {
    guard text.utf8.first == UInt8(ascii: "{"), text.utf8.last == UInt8(ascii: "}") else {
      return nil
    }
    if let value = try? JSONValue(parsing: Array(text.utf8), limits: .small) { return value.object }
    guard text.contains("': "), !text.contains("\"") else { return nil }
    var json = text.replacing("'", with: "\"")
    for (python, name) in [(": None", ": null"), (": True", ": true"), (": False", ": false")] {
      json = json.replacing(python, with: name)
    }
    return (try? JSONValue(parsing: Array(json.utf8), limits: .small))?.object
  }

  /// The object that a text of PostgreSQL's `hstore` means: `"addr:city"=>"Paris","stars"=>"5"`.
  /// <https://www.postgresql.org/docs/current/hstore.html>
  private static func hstore(_ text: String) -> JSONObject? {
    guard text.hasPrefix("\""), text.contains("\"=>") else { return nil }
    let json = "{" + text.replacing("\"=>", with: "\":") + "}"
    return (try? JSONValue(parsing: Array(json.utf8), limits: .small))?.object
  }

  /// The name and the text of a key of Odoo, which has the number and the text of another record: `country_id` above
  /// `[75, "France"]`. States end with the code of their country. Nil for another value.
  /// <https://www.odoo.com/documentation/17.0/developer/reference/external_api.html>
  static func labelledKey(_ name: String, _ value: JSONValue) -> (name: String, text: String)? {
    guard name.hasSuffix("_id"), let values = value.array, values.count == 2,
      values[0].int != nil, var text = values[1].string
    else { return nil }
    let end = text.utf8.suffix(5)
    if end.starts(with: " (".utf8), end.last == UInt8(ascii: ")"),
      end.dropFirst(2).dropLast().allSatisfy({ (0x41...0x5A).contains($0) })
    {
      text.removeLast(5)
    }
    return (String(name.dropLast(3)), text)
  }

  private static func name(of member: JSONValue) -> String? {
    for name in ["name", "title", "key", "attribute_code"] {
      if let text = (member[name] ?? member["column"]?[name])?.string { return text }
    }
    // A contact: `{"type": "phone", "value": "+33 1"}`.
    let isPair = member.object?.count == 2 && member["value"] != nil
    return isPair ? member["type"]?.string : nil
  }
}

/// Values that an export wraps in an object that says their type: MongoDB's `{"$oid": …}` and `{"$numberLong": "1"}`,
/// Firestore's `{"stringValue": …}`, DynamoDB's `{"S": …}`, SPARQL's `{"type": "literal", "value": …}`, Notion's
/// `{"type": "number", "number": 1}`.
///
/// - MongoDB: <https://www.mongodb.com/docs/manual/reference/mongodb-extended-json/>
/// - Firestore: <https://firebase.google.com/docs/firestore/reference/rest/v1/Value>
/// - DynamoDB: <https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_AttributeValue.html>
/// - Notion: <https://developers.notion.com/reference/property-value-object>
/// - SPARQL: <https://www.w3.org/TR/sparql11-results-json/>
enum TypedValues {
  /// The value without such objects, at all levels.
  static func plain(_ value: JSONValue) -> JSONValue {
    switch value {
    case .array(let values): richText(values) ?? .array(values.map(plain))
    case .object(let object): unwrapped(object) ?? .object(plain(object))
    default: value
    }
  }

  /// The object with plain values.
  static func plain(_ object: JSONObject) -> JSONObject {
    // Most values are no objects, so most rows need no copy.
    let needsCopy = object.members.contains { $0.value.object != nil || $0.value.array != nil }
    guard needsCopy else { return object }
    var result = JSONObject()
    for (name, value) in object.members { result.append(name, plain(value)) }
    return result
  }

  private static let terms: Set<String> = ["uri", "literal", "typed-literal", "bnode"]
  private static let termMembers: Set<String> = ["type", "value", "datatype", "xml:lang"]

  /// The text of Notion's list of parts with a style each.
  private static func richText(_ values: [JSONValue]) -> JSONValue? {
    let texts = values.compactMap { $0["plain_text"]?.string }
    return texts.isEmpty || texts.count < values.count ? nil : .string(texts.joined())
  }

  /// The value of Notion's `{"id": …, "type": T, T: …}`.
  private static func property(_ object: JSONObject) -> JSONValue? {
    guard let type = object["type"]?.string, let value = object[type],
      object.members.allSatisfy({ [type, "type", "id"].contains($0.name) })
    else { return nil }
    return plain(value)
  }

  /// What Strapi's relation `{"data": {"id": 1, "attributes": {…}}}` means, to one entry, to several or to none.
  /// <https://docs-v4.strapi.io/dev-docs/api/rest/populate-select>
  private static func related(_ value: JSONValue) -> JSONValue? {
    if value == .null { return .null }
    if let values = value.array {
      let entries = values.compactMap { $0["attributes"]?.object }
      return entries.count == values.count ? .array(entries.map { .object(plain($0)) }) : nil
    }
    return value["attributes"]?.object.map { .object(plain($0)) }
  }

  private static func unwrapped(_ object: JSONObject) -> JSONValue? {
    if let value = property(object) { return value }
    // MongoDB's UUIDs in its former format have a second member.
    if let bytes = object["$binary"] { return bytes["base64"] ?? bytes }
    // node-firestore-import-export: `{"__datatype__": "geopoint", "value": …}`.
    if object["__datatype__"]?.string != nil { return object["value"].map(plain) }
    if let type = object["type"]?.string, terms.contains(type), let value = object["value"]?.string,
      object.members.allSatisfy({ termMembers.contains($0.name) })
    {
      return .string(value)
    }
    // An item of a page's microdata within another one: `{"type": […], "properties": {…}}`; extruct has one type as a text.
    if object["type"]?.array != nil || object["type"]?.string?.contains("://") == true,
      let properties = object["properties"]?.object,
      object.members.allSatisfy({ ["type", "id", "properties"].contains($0.name) })
    {
      return .object(plain(properties))
    }
    // JSON-LD's value without a language. <https://www.w3.org/TR/json-ld11/#value-objects>
    if let value = object["@value"],
      object.members.allSatisfy({ $0.name == "@value" || $0.name == "@type" })
    {
      return plain(value)
    }
    // GraphQL's connections: a list of edges, beside how many there are.
    if let edges = object["edges"]?.array, edges.allSatisfy({ $0["node"] != nil }) {
      return .array(edges.compactMap { $0["node"].map(plain) })
    }
    guard object.count == 1, let (name, value) = object.members.first else { return nil }
    if name == "data", let related = related(value) { return related }
    switch name {
    case "$oid", "$uuid", "$date", "stringValue", "timestampValue", "referenceValue", "S",
      "booleanValue", "BOOL", "doubleValue":
      // DynamoDB's names are short. A text under them is a text, so nothing else is lost.
      return value.object == nil || name.utf8.first == UInt8(ascii: "$") ? plain(value) : nil
    case "$numberInt", "$numberLong", "$numberDouble", "$numberDecimal", "integerValue", "N":
      guard let text = value.string else { return value.number.map { .number($0) } }
      return JSONNumber(text: text).map { .number($0) } ?? .string(text)
    case "nullValue", "NULL": return .null
    case "geoPointValue": return plain(value)
    case "arrayValue": return .array((value["values"]?.array ?? []).map(plain))
    case "mapValue": return .object(plain(value["fields"]?.object ?? JSONObject()))
    case "L", "SS", "NS": return value.array.map { .array($0.map(plain)) }
    case "M": return value.object.map { .object(plain($0)) }
    default: return nil
    }
  }
}
