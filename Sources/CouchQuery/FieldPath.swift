package import Documents
import Stores

/// The path to a value inside a document, such as `address.city`.
///
/// Source: CouchDB, "Mango: subfields"; `mango_doc:get_field` and `mango_util:parse_field`.
package struct FieldPath: Hashable, Sendable {
  /// The most names in a path: as many as the deepest nesting of a document.
  package static let maximumNames = JSONLimits.document.maximumDepth

  /// The path as written: names joined by `.`; a `\` escapes the next character.
  package let text: String
  /// The names from the outermost; at least one, none empty. In an array a name that is a number is an index from 0.
  package let names: [String]

  /// Reads a path.
  /// - Throws: 400 `invalid_field_name` for an empty name, a `\` at the end, and more than ``maximumNames`` names.
  package init(_ text: String) throws {
    var names: [String] = []
    var name: [UInt8] = []
    var isEscaped = false
    for byte in text.utf8 {
      if isEscaped || byte != Self.dot && byte != Self.backslash {
        name.append(byte)
        isEscaped = false
      } else if byte == Self.backslash {
        isEscaped = true
      } else {
        guard !name.isEmpty, names.count < Self.maximumNames else {
          throw ServiceError.invalidFieldName(text)
        }
        names.append(String(decoding: name, as: UTF8.self))
        name = []
      }
    }
    guard !name.isEmpty, !isEscaped, names.count < Self.maximumNames else {
      throw ServiceError.invalidFieldName(text)
    }
    names.append(String(decoding: name, as: UTF8.self))
    self.text = text
    self.names = names
  }

  /// Makes a path that continues `outer` with `inner`.
  /// - Throws: 400 `invalid_field_name` for more than ``maximumNames`` names.
  init(_ outer: FieldPath?, _ inner: FieldPath) throws {
    guard let outer else {
      self = inner
      return
    }
    text = outer.text + "." + inner.text
    names = outer.names + inner.names
    guard names.count <= Self.maximumNames else { throw ServiceError.invalidFieldName(text) }
  }

  /// Whether this is the path `_id`, whose strings CouchDB compares by bytes.
  var isID: Bool { names.count == 1 && names[0].equalsBytes(of: "_id") }

  /// The value at the path; nil when the document has none.
  package func value(in root: JSONNode) -> JSONNode? {
    guard case .found(let value) = follow(in: root) else { return nil }
    return value
  }

  /// Whether this path is the beginning of another, or the same.
  func leads(to other: FieldPath) -> Bool {
    names.count <= other.names.count
      && zip(names, other.names).allSatisfy { $0.equalsBytes(of: $1) }
  }

  package static func == (left: FieldPath, right: FieldPath) -> Bool {
    left.names.count == right.names.count && left.leads(to: right)
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(names.count)
    for name in names { name.hashBytes(into: &hasher) }
  }

  private static let dot = UInt8(ascii: ".")
  private static let backslash = UInt8(ascii: "\\")

  /// The result of following a path.
  enum End {
    case found(JSONNode)
    /// No value: an object does not have the name.
    case missing
    /// No value: something on the path is neither an object nor an array, or an array has no such element. For CouchDB
    /// such a field is not even absent.
    case unreachable
  }

  func follow(in root: JSONNode) -> End {
    var node = root
    for name in names {
      switch node.kind {
      case .object:
        guard let member = node[name] else { return .missing }
        node = member
      case .array:
        guard let index = Int(name), let element = node[index] else { return .unreachable }
        node = element
      case .null, .bool, .number, .string: return .unreachable
      }
    }
    return .found(node)
  }

  static let id = FieldPath(reserved: "_id")
  static let revision = FieldPath(reserved: "_rev")
  static let type = FieldPath(reserved: "type")

  /// A top-level name that needs no escape.
  private init(reserved name: String) {
    text = name
    names = [name]
  }
}
