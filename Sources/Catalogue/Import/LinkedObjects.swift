import Documents

/// Objects that stand beside one another and name each other by keys: the cache of Apollo's client, `{"__ref": "City:1"}`,
/// a flat graph of JSON-LD, `{"@id": "_:b0"}`, and JSON:API's resources, `{"type": "cities", "id": "9"}`.
///
/// - Apollo: <https://www.apollographql.com/docs/react/caching/overview>
/// - JSON-LD: <https://www.w3.org/TR/json-ld11/#node-objects>
/// - JSON:API: <https://jsonapi.org/format/#document-compound-documents>
struct LinkedObjects {
  private var objects: [String: JSONObject] = [:]
  /// The keys of the objects that are part of another one.
  private var parts: Set<String> = []
  /// How many bytes may still be copied: a thousand hotels may name the same large object.
  private var budget = 2 * longest

  /// The most members of an object that is looked at; copying one takes the square of them.
  private static let mostMembers = 200

  /// The largest file whose objects are joined, in bytes.
  static let longest = 4 << 20

  /// The hotels of a file with the objects that they name in them, as an array; nil for another file.
  static func rows(in text: [UInt8]) -> [UInt8]? {
    let marks = ["\"__typename\"", "\"@graph\"", "\"included\""].map { Array($0.utf8) }
    guard text.count <= longest, marks.contains(where: { contains($0, in: text) }),
      let root = try? JSONValue(parsing: text, limits: .request)
    else { return nil }
    var linked = LinkedObjects()
    let resources = root["included"]?.array.flatMap { linked.resources(root["data"], with: $0) }
    let rows =
      resources ?? root["@graph"]?.array.map { linked.nodes($0) }
      ?? linked.hotels(inCache: root, depth: 5)
    guard !rows.isEmpty, resources != nil || !linked.parts.isEmpty else { return nil }
    return JSONValue.array(rows.map { .object($0) }).bytes
  }

  private static func contains(_ mark: [UInt8], in text: [UInt8]) -> Bool {
    var rest = text[...]
    while let start = rest.firstIndex(of: mark[0]) {
      rest = text[start...]
      if rest.starts(with: mark) { return true }
      rest.removeFirst()
    }
    return false
  }

  /// The resources of JSON:API's answer, with those that they name among their attributes; nil for another answer.
  private mutating func resources(_ data: JSONValue?, with included: [JSONValue]) -> [JSONObject]? {
    let resources = (data?.array ?? [data].compactMap(\.self)).compactMap(\.object)
    guard !resources.isEmpty,
      resources.allSatisfy({ $0["attributes"]?.object != nil && Self.key(of: $0) != nil })
    else { return nil }
    for resource in included.compactMap(\.object) {
      if let key = Self.key(of: resource) { objects[key] = Self.facts(of: resource) }
    }
    return resources.map { resource in
      var resource = resource
      resource["attributes"] = .object(joined(Self.facts(of: resource)))
      let related = resource["relationships"]?.object?.members ?? []
      guard related.count <= Self.mostMembers else { return resource }
      let rest = related.filter { !Self.isKnown($0.name) }
      resource["relationships"] =
        rest.isEmpty ? nil : .object(JSONObject(rest.map { ($0.name, $0.value) }))
      return resource
    }
  }

  /// The attributes of a resource, and the keys of those that say something about a hotel.
  private static func facts(of resource: JSONObject) -> JSONObject {
    var facts = resource["attributes"]?.object ?? JSONObject()
    let related = resource["relationships"]?.object?.members ?? []
    guard facts.count + related.count <= mostMembers else { return facts }
    for (name, value) in related where isKnown(name) && facts[name] == nil {
      if let data = value["data"], data != .null { facts.append(name, data) }
    }
    return facts
  }

  /// The nodes of a graph that are no part of another one.
  private mutating func nodes(_ graph: [JSONValue]) -> [JSONObject] {
    let nodes = graph.compactMap(\.object)
    for node in nodes {
      if let id = node["@id"]?.string { objects[id] = node }
    }
    return nodes.map { ($0["@id"]?.string, joined($0)) }.filter { id, node in
      id.map { !parts.contains($0) || WrappedRow.hasName(node) } ?? true
    }.map(\.1)
  }

  /// The objects of a cache that are of a type of hotels.
  private mutating func hotels(inCache root: JSONValue, depth: Int) -> [JSONObject] {
    guard let members = root.object?.members, depth > 0 else { return [] }
    guard root["ROOT_QUERY"] != nil else {
      for (_, value) in members {
        let found = hotels(inCache: value, depth: depth - 1)
        if !found.isEmpty { return found }
      }
      return []
    }
    for (key, value) in members {
      if let object = value.object { objects[key] = object }
    }
    return members.compactMap { key, value in
      guard let object = value.object, let type = object["__typename"]?.string,
        Self.types.contains(HotelAliases.letters(of: type.utf8))
      else { return nil }
      return joined(object)
    }.filter(WrappedRow.hasName)
  }

  private static let types = ImportWords.typeOfHotel.set

  /// An object with those that its members name, of members that say something about a hotel.
  private mutating func joined(_ object: JSONObject) -> JSONObject {
    guard object.count <= Self.mostMembers else { return object }
    var joined = JSONObject()
    for (name, value) in object.members {
      // Apollo's names have the arguments: `price({"currency":"EUR"})`.
      let name = name.firstRange(of: "({").map { String(name[..<$0.lowerBound]) } ?? name
      joined.append(name, Self.isKnown(name) ? resolved(value, depth: 3) : value)
    }
    return joined
  }

  private static func isKnown(_ name: String) -> Bool {
    HotelAliases.match(name.utf8) != nil || HotelAliases.isContainer(name)
      || PriceForms.isContainer(name)
  }

  /// A value with the objects that it names.
  private mutating func resolved(_ value: JSONValue, depth: Int) -> JSONValue {
    budget -= Self.size(of: value)
    guard budget > 0 else { return value }
    switch value {
    case .array(let values): return .array(values.map { resolved($0, depth: depth) })
    case .object(let object):
      if depth > 0, let key = Self.key(of: object), let part = objects[key] {
        parts.insert(key)
        return resolved(.object(part), depth: depth - 1)
      }
      guard object.count <= Self.mostMembers else {
        budget -= value.bytes.count
        return value
      }
      return .object(JSONObject(object.members.map { ($0.name, resolved($0.value, depth: depth)) }))
    default: return value
    }
  }

  /// The bytes of a value without those of the values in it, about as they are written.
  private static func size(of value: JSONValue) -> Int {
    switch value {
    case .string(let text): text.utf8.count + 8
    case .number(let number): number.text.utf8.count + 8
    case .object(let object): object.members.reduce(8) { $0 + $1.name.utf8.count }
    case .array, .bool, .null: 8
    }
  }

  /// The key of the object that another one names; nil for one without a key.
  private static func key(of object: JSONObject) -> String? {
    if object.count == 1 { return (object["__ref"] ?? object["@id"])?.string }
    guard let type = object["type"]?.string,
      let id = object["id"]?.string ?? object["id"]?.number?.text
    else { return nil }
    // Apollo's client up to version 2, or JSON:API.
    return type == "id" && object["generated"] != nil ? id : "\(type)/\(id)"
  }
}
