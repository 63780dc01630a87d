import Documents
import Stores

/// The index that a client requests for a query.
///
/// Source: CouchDB, "POST /{db}/_find: use_index".
package struct UseIndex: Sendable {
  /// The design document's name, without `_design/`.
  let design: String
  /// The index's name; nil for any index of the design document.
  let name: String?

  /// Reads `"ddoc"`, `"ddoc/name"`, `["ddoc"]` or `["ddoc","name"]`, with or without `_design/`; nil for null and an
  /// empty array.
  /// - Throws: 400 `invalid_index_name`.
  init?(_ node: JSONNode) throws {
    if node.isNull || (node.kind == .array && node.count == 0) { return nil }
    let parts: [String]?
    if let text = node.string {
      parts = Self.parts(text)
    } else {
      let names = node.elements.map(\.string)
      parts = names.contains(nil) ? nil : names.compactMap { $0 }
    }
    guard let parts, (1...2).contains(parts.count) else {
      throw ServiceError(.invalidIndexName, "Invalid index name: \(QueryOption.shown(node))")
    }
    design = Self.name(of: parts[0])
    name = parts.count == 2 ? parts[1] : nil
  }

  private static func parts(_ text: String) -> [String] {
    var parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
      .map { String(Substring($0)) }
    if parts.count > 1, parts[0].equalsBytes(of: "_design") { parts.removeFirst() }
    return parts
  }

  /// A design document's name without `_design/`.
  package static func name(of design: String) -> String {
    let prefix = "_design/".utf8
    guard design.utf8.starts(with: prefix) else { return design }
    return String(Substring(design.utf8.dropFirst(prefix.count)))
  }

  /// Whether this requests the index of a definition.
  package func names(_ definition: IndexDefinition) -> Bool {
    design.equalsBytes(of: Self.name(of: definition.design.text))
      && (name.map { $0.equalsBytes(of: definition.name) } ?? true)
  }

  /// The warning in the answer when the index was not used.
  package var warning: String {
    if let name {
      "_design/\(design), \(name) was not used because it is not a valid index for this query."
    } else {
      "_design/\(design) was not used because it does not contain a valid index for this query."
    }
  }

  /// The requested index as `_explain` shows it.
  var json: JSONValue { .array([.string(design)] + (name.map { [.string($0)] } ?? [])) }
}
