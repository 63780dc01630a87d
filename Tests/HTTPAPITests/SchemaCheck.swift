import Documents

/// Checks JSON against the part of JSON Schema that the contract uses.
///
/// Source: JSON Schema 2020-12, "Validation". A keyword that this check does not know is a fault, so the contract
/// cannot use a keyword that is not checked.
struct SchemaCheck {
  private let document: JSONValue

  /// Keywords that do not affect whether a value is valid.
  private static let remarks: Set<String> = [
    "title", "summary", "description", "default", "format", "example", "examples", "deprecated",
  ]

  /// A check of schemas that refer to this document.
  init(_ document: JSONValue) { self.document = document }

  /// The faults of a text.
  func faults(_ bytes: [UInt8], _ schema: JSONValue) -> [String] {
    do {
      return faults(try JSONValue(parsing: bytes, limits: .request), schema, at: "")
    } catch {
      return ["it is no JSON: \(error.reason)"]
    }
  }

  /// The faults of a value; `path` leads to it from the whole text.
  func faults(_ value: JSONValue, _ schema: JSONValue, at path: String) -> [String] {
    let schema = resolve(schema)
    return (schema.object?.members ?? []).flatMap { keyword, wanted in
      faults(value, keyword, wanted, in: schema, at: path)
    }
  }

  /// Follows `$ref`.
  func resolve(_ value: JSONValue) -> JSONValue {
    guard let reference = value["$ref"]?.string else { return value }
    let found = reference.dropFirst(2).split(separator: "/").reduce(document) { node, name in
      node[String(name)] ?? .null
    }
    return found == .null ? ["$ref of nothing": true] : resolve(found)
  }

  private func faults(
    _ value: JSONValue, _ keyword: String, _ wanted: JSONValue, in schema: JSONValue,
    at path: String
  ) -> [String] {
    func fault(_ isWrong: Bool) -> [String] {
      isWrong ? ["\(path): \(keyword) \(Self.text(wanted)), not \(Self.text(value))"] : []
    }
    switch keyword {
    case "type": return fault(!(wanted.array ?? [wanted]).contains { Self.is(value, $0.string) })
    case "const": return fault(value != wanted)
    case "enum": return fault(wanted.array?.contains(value) != true)
    case "required":
      let names = wanted.array?.compactMap(\.string) ?? []
      return fault(value.object != nil && names.contains { value[$0] == nil })
    case "minProperties": return fault((value.object?.members.count ?? .max) < wanted.int ?? 0)
    case "dependentRequired":
      return (wanted.object?.members ?? []).filter { value[$0.name] != nil }.flatMap {
        faults(value, "required", $0.value, in: schema, at: path)
      }
    case "properties":
      return (wanted.object?.members ?? []).flatMap { name, schema in
        value[name].map { faults($0, schema, at: path + "/" + name) } ?? []
      }
    case "additionalProperties":
      let others = value.object?.members.filter { schema["properties"]?[$0.name] == nil } ?? []
      if let isAllowed = wanted.bool { return fault(!isAllowed && !others.isEmpty) }
      return others.flatMap { faults($0.value, wanted, at: path + "/" + $0.name) }
    case "propertyNames":
      return (value.object?.members ?? []).flatMap {
        faults(.string($0.name), wanted, at: "\(path)/\($0.name) as a name")
      }
    case "items":
      return (value.array ?? []).enumerated().flatMap { faults($1, wanted, at: "\(path)/\($0)") }
    case "minimum": return fault(value.int.map { $0 < (wanted.int ?? .min) } ?? false)
    case "maximum": return fault(value.int.map { $0 > (wanted.int ?? .max) } ?? false)
    case "minLength": return fault((value.string?.unicodeScalars.count ?? .max) < wanted.int ?? 0)
    case "maxLength": return fault((value.string?.unicodeScalars.count ?? 0) > wanted.int ?? .max)
    case "pattern": return fault(value.string.map { !Self.matches($0, wanted) } ?? false)
    case "anyOf", "oneOf":
      let fitting = (wanted.array ?? []).count { faults(value, $0, at: path).isEmpty }
      return fault(keyword == "anyOf" ? fitting == 0 : fitting != 1)
    case "allOf": return (wanted.array ?? []).flatMap { faults(value, $0, at: path) }
    case _ where Self.remarks.contains(keyword): return []
    default: return ["\(path): the keyword \(keyword) is not known to the tests"]
    }
  }

  private static func `is`(_ value: JSONValue, _ type: String?) -> Bool {
    switch value {
    case .null: type == "null"
    case .bool: type == "boolean"
    case .number(let number): type == "number" || type == "integer" && number.int != nil
    case .string: type == "string"
    case .array: type == "array"
    case .object: type == "object"
    }
  }

  private static func matches(_ text: String, _ pattern: JSONValue) -> Bool {
    guard let regex = try? Regex(pattern.string ?? "") else { return false }
    return text.contains(regex)
  }

  private static func text(_ value: JSONValue) -> String {
    String(decoding: value.bytes, as: UTF8.self)
  }
}
