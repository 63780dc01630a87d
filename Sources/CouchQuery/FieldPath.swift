import Documents
package import JSON
import Stores

/// The way to a value inside a document, such as `address.city`.
///
/// Source: CouchDB, "Mango: subfields"; `mango_doc:get_field` and `mango_util:parse_field`.
package struct FieldPath: Hashable, Sendable {
  /// The most names: as deep as a document can be.
  package static let maximumNames = JSONLimits.document.maximumDepth

  /// The path as written: names joined by `.`; a `\` takes the next character as it is.
  package let text: String
  /// The names from the outermost, at least one and none empty. In an array a name that is a number
  /// counts from 0.
  package let names: [String]

  /// Reads a path.
  /// - Throws: 400 `invalid_field_name` for an empty name, a `\` at the end, and more names than
  ///   ``maximumNames``.
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

  /// The path that goes on where another ends.
  /// - Throws: 400 `invalid_field_name` for more names than ``maximumNames``.
  init(_ outer: FieldPath?, _ inner: FieldPath) throws {
    guard let outer else {
      self = inner
      return
    }
    text = outer.text + "." + inner.text
    names = outer.names + inner.names
    guard names.count <= Self.maximumNames else { throw ServiceError.invalidFieldName(text) }
  }

  private init(text: String, names: [String]) {
    self.text = text
    self.names = names
  }

  /// The path of one name that the program knows, without a `.` or a `\`.
  static func reserved(_ name: StaticString) -> FieldPath {
    FieldPath(text: name.description, names: [name.description])
  }

  /// Whether this is `_id`, whose texts CouchDB compares by bytes.
  var isID: Bool {
    names.count == 1 && names[0].equalsBytes(of: "_id")
  }

  /// The value at the end of the path, if the document has it.
  package func value(in root: JSONNode) -> JSONNode? {
    guard case .found(let value) = follow(in: root) else { return nil }
    return value
  }

  /// Whether this path leads through or to everything that another leads to.
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
}

extension FieldPath {
  /// Where a path leads.
  enum End {
    /// To a value.
    case found(JSONNode)
    /// Nowhere: an object lacks a name.
    case missing
    /// Nowhere: something that is no object stands in the way, or an array without such an element.
    /// For CouchDB such a field is not even absent.
    case unreachable
  }

  /// Follows the path from a value.
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
      case .null, .bool, .number, .string:
        return .unreachable
      }
    }
    return .found(node)
  }
}

extension FieldPath {
  /// The document's id.
  static let id = FieldPath(reserved: "_id")
  /// The document's revision.
  static let revision = FieldPath(reserved: "_rev")
  /// What kind of thing the document is.
  static let type = FieldPath(reserved: "type")

  /// A name of the document's top level that needs no escape.
  private init(reserved name: String) {
    text = name
    names = [name]
  }
}
