import Documents
import Stores

/// A design document whose views are index definitions, as it is changed.
struct QueryDesign: Sendable {
  private var root: JSONObject

  /// A design document without definitions.
  static let empty = QueryDesign(root: ["language": "query"])

  private init(root: JSONObject) { self.root = root }

  /// Reads a stored document; one that is absent or deleted is empty.
  /// - Throws: 400 `invalid_ddoc_lang` for one that is not for queries.
  init(_ document: Document?) throws(CouchError) {
    guard let document, !document.isDeleted else {
      self = .empty
      return
    }
    let value: JSONValue
    do { value = try JSONValue(parsing: document.body, limits: .stored) } catch {
      throw CouchError(error)
    }
    guard let root = value.object, root["language"] == "query" else {
      let language = value["language"].map { String(decoding: $0.bytes.prefix(64), as: UTF8.self) }
      throw CouchError(
        400, "invalid_ddoc_lang",
        "Existing design doc has an invalid language: \(language ?? "none")")
    }
    self.init(root: root)
  }

  /// Puts a view in; false when it is there as it is, its members' order included.
  mutating func set(_ name: String, _ view: JSONValue) -> Bool {
    var views = root["views"]?.object ?? [:]
    guard views[name]?.bytes != view.bytes else { return false }
    views[name] = view
    root["views"] = .object(views)
    return true
  }

  /// Takes views out.
  mutating func remove(_ names: [String]) {
    var views = root["views"]?.object ?? [:]
    for name in names { views[name] = nil }
    root["views"] = views.isEmpty ? nil : .object(views)
  }

  /// Whether nothing is left but the language.
  var isEmpty: Bool { root.count == 1 }

  /// What is to be stored.
  /// - Throws: 413 for a document that queries would pass over.
  func body() throws(CouchError) -> DocumentBody {
    let body: DocumentBody
    do { body = try DocumentBody(.object(root)) } catch { throw CouchError(error) }
    guard body.bytes.count <= QueryLimits.designBytes else {
      throw .tooLarge(
        "A design document with indexes has at most \(QueryLimits.designBytes) bytes")
    }
    return body
  }
}
