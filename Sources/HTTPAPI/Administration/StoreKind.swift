import HTTPTypes
import Stores

/// The kinds of stores, with the names that the administrator's pages use.
enum StoreKind: String, CaseIterable {
  case guest, user, list, database, service

  /// The kind of a store.
  init(of name: StoreName) {
    switch name {
    case .guest: self = .guest
    case .user: self = .user
    case .list: self = .list
    case .named: self = .database
    case .system, .staged: self = .service
    }
  }

  /// The kind that a query asks for; nil for all.
  /// - Throws: ``Problem`` 400 for an unknown kind.
  init?(_ query: QueryParameters) throws(Problem) {
    guard let text = query["kind"] else { return nil }
    guard let kind = StoreKind(rawValue: text) else {
      let kinds = Self.allCases.map(\.rawValue).joined(separator: ", ")
      throw Problem.invalidParameter("kind must be one of \(kinds)")
    }
    self = kind
  }

  /// The namespace of ``StoreName`` for this kind.
  var namespace: String {
    switch self {
    case .guest, .user, .list: rawValue
    case .database: "named"
    case .service: "system"
    }
  }
}

extension StoreName {
  /// The name that the administrator sees: that of a database, otherwise the store's name in the sync protocol.
  var shownName: String {
    switch self {
    case .guest(let id), .user(let id), .list(let id): namespace + "-" + id.text
    case .named(let name): name.text
    case .system, .staged: namespace
    }
  }
}
