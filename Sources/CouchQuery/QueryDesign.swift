package import Documents
import Stores

/// A design document whose views are index definitions, while it is changed.
package struct QueryDesign: Sendable {
  private var root: JSONObject

  /// A design document without definitions.
  static let empty = QueryDesign(root: ["language": "query"])

  private init(root: JSONObject) { self.root = root }

  /// Reads a stored document; an absent or deleted one is empty.
  /// - Throws: 400 `invalid_ddoc_lang` for a document of another language.
  package init(_ document: Document?) throws {
    guard let document, !document.isDeleted else {
      self = .empty
      return
    }
    let value = try JSONValue(parsing: document.body, limits: .stored)
    guard let root = value.object, root["language"] == "query" else {
      let language = value["language"].map { String(decoding: $0.bytes.prefix(64), as: UTF8.self) }
      throw ServiceError(
        .invalidDesignLanguage,
        "Existing design doc has an invalid language: \(language ?? "none")")
    }
    self.init(root: root)
  }

  /// Sets a view; returns false when the same view exists, with its members in the same order.
  package mutating func set(_ name: String, _ view: JSONValue) -> Bool {
    var views = root["views"]?.object ?? [:]
    guard views[name]?.bytes != view.bytes else { return false }
    views[name] = view
    root["views"] = .object(views)
    return true
  }

  package mutating func remove(_ names: [String]) {
    var views = root["views"]?.object ?? [:]
    for name in names { views[name] = nil }
    root["views"] = views.isEmpty ? nil : .object(views)
  }

  /// Whether the document has no member but the language.
  package var isEmpty: Bool { root.count == 1 }

  /// The body to store.
  /// - Throws: 413 for a document that is too long for queries to read.
  package func body() throws -> DocumentBody {
    let body = try DocumentBody(.object(root))
    guard body.bytes.count <= QueryLimits.designBytes else {
      throw ServiceError.tooLarge(
        "A design document with indexes has at most \(QueryLimits.designBytes) bytes")
    }
    return body
  }
}
