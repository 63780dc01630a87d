package import Documents
import Stores

/// The fields of a document that a query requests, nested as in the document.
///
/// Source: CouchDB, "POST /{db}/_find: filtering fields".
package struct FieldProjection: Sendable {
  /// The fields, in the order of the request.
  let fields: [FieldPath]

  /// Reads `["a","b.c"]`; nil for an empty array, which requests whole documents.
  /// - Throws: 400 `invalid_fields`, `invalid_field`.
  init?(_ node: JSONNode) throws {
    guard node.kind == .array else {
      throw ServiceError(
        .invalidFields,
        "Fields must be an array of strings, not: \(QueryOption.shown(node))")
    }
    guard node.count <= QueryLimits.projectedFields else {
      throw ServiceError(
        .invalidFields, "A query asks for at most \(QueryLimits.projectedFields) fields")
    }
    guard node.count > 0 else { return nil }
    fields = try node.elements.map { element in
      guard let text = element.string else {
        throw ServiceError(
          .invalidField,
          "Invalid JSON for field spec: \(QueryOption.shown(element))")
      }
      return try FieldPath(text)
    }
  }

  init(_ fields: [FieldPath]) { self.fields = fields }

  /// Writes an object of those fields that a document has.
  package func append(_ document: JSONNode, to writer: inout JSONWriter) {
    var tree = Branch()
    for field in fields {
      if let value = field.value(in: document) { tree.put(value, at: field.names[...]) }
    }
    tree.append(to: &writer)
  }

  /// An object while it is built: members in the order in which they were added.
  private struct Branch {
    enum Child {
      case value(JSONNode)
      case branch(Branch)
    }

    var children: [(name: String, child: Child)] = []

    mutating func put(_ value: JSONNode, at path: ArraySlice<String>) {
      guard let name = path.first else { return }
      let rest = path.dropFirst()
      let index = children.firstIndex { $0.name.equalsBytes(of: name) }
      if rest.isEmpty {
        set(.value(value), name, index)
        return
      }
      var branch = Branch()
      if let index {
        switch children[index].child {
        // A whole value that was added before already contains its parts.
        case .value: return
        case .branch(let started): branch = started
        }
      }
      branch.put(value, at: rest)
      set(.branch(branch), name, index)
    }

    private mutating func set(_ child: Child, _ name: String, _ index: Int?) {
      if let index { children[index].child = child } else { children.append((name, child)) }
    }

    func append(to writer: inout JSONWriter) {
      writer.beginObject()
      for (name, child) in children {
        writer.name(name)
        switch child {
        case .value(let node): writer.raw(node.minified)
        case .branch(let branch): branch.append(to: &writer)
        }
      }
      writer.endObject()
    }
  }
}
