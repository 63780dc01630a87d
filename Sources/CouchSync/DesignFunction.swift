import Documents
import Stores

/// A function in a design document that a client asks for. None is run: a function that a client sends is only stored.
package struct DesignFunction: Sendable {
  /// The kinds of functions, under CouchDB's names for the members that contain them.
  package enum Kind: String, Sendable {
    /// Selects changes.
    case filters
    /// Makes rows from documents.
    case views
    /// Makes an answer from a document.
    case shows
    /// Makes an answer from a view's rows.
    case lists
    /// Makes a revision from a request.
    case updates
  }

  let design: DocumentID
  let kind: Kind
  let name: String

  /// Makes a function from its names.
  /// - Throws: ``DocumentError`` with code `invalidID`.
  package init(_ kind: Kind, _ name: String, in design: String) throws {
    self.design = try DocumentID("_design/" + design)
    self.kind = kind
    self.name = name
  }

  /// Reads `design/name`, the value of a parameter of `_changes`.
  /// - Throws: 400 for another form.
  init(_ kind: Kind, parameter text: String) throws {
    let parts = text.utf8.split(separator: UInt8(ascii: "/"))
    guard parts.count == 2 else {
      let parameter = kind == .views ? "view" : "filter"
      throw ServiceError.badRequest(
        "`\(parameter)` must be of the form `designname/\(parameter)name`")
    }
    let (design, name) = (String(Substring(parts[0])), String(Substring(parts[1])))
    try self.init(kind, name, in: design)
  }

  /// The error that says why the function is not run.
  /// - Parameter document: the body of the design document; nil when there is none.
  func refusal(in document: JSONNode?) -> ServiceError {
    guard let document else { return .missing }
    guard let functions = document[kind.rawValue] else {
      return kind == .views ? Self.noView : Self.missing(kind.rawValue)
    }
    guard functions[name] != nil else { return kind == .views ? Self.noView : Self.missing(name) }
    return ServiceError(
      .notImplemented,
      "Functions of design documents are stored and replicated, not run: use _find or a _selector")
  }

  private static let noView = ServiceError(.missing, "missing_named_view")

  private static func missing(_ key: String) -> ServiceError {
    ServiceError(.missing, "missing json key: \(key.prefix(64))")
  }
}
