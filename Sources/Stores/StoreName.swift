import Documents

/// Which store: the namespaces never meet, whatever a user is called.
package enum StoreName: Hashable, Sendable {
  /// A guest's own store.
  case guest(AccountID)
  /// A user's own store.
  case user(AccountID)
  /// A shared list's store.
  case list(AccountID)
  /// The service's own documents: accounts, sessions, revocations.
  case system
  /// A database that the administrator made.
  case named(DatabaseName)

  /// The text that stands for the name in the registry, in file names (hashed) and in metrics'
  /// kinds; unique over all names.
  package var key: String {
    switch self {
    case .guest(let id): "guest/" + id.text
    case .user(let id): "user/" + id.text
    case .list(let id): "list/" + id.text
    case .system: "system"
    case .named(let name): "named/" + name.text
    }
  }

  /// All namespaces, in byte order, in which ``key`` has them, too.
  package static let namespaces = ["guest", "list", "named", "system", "user"]

  /// The namespace alone: `guest`, `user`, `list`, `system` or `named`.
  package var namespace: String {
    switch self {
    case .guest: "guest"
    case .user: "user"
    case .list: "list"
    case .system: "system"
    case .named: "named"
    }
  }

  /// Reads ``key`` back; nil for any other text.
  package init?(key: String) {
    if key.equalsBytes(of: "system") {
      self = .system
      return
    }
    guard let slash = key.utf8.firstIndex(of: UInt8(ascii: "/")) else { return nil }
    // By bytes: as a character, a slash may have swallowed a combining mark.
    let rest = String(key[key.utf8.index(after: slash)...])
    switch key[..<slash] {
    case "named":
      guard let name = DatabaseName(rest) else { return nil }
      self = .named(name)
    case let kind:
      guard let id = AccountID(rest) else { return nil }
      switch kind {
      case "guest": self = .guest(id)
      case "user": self = .user(id)
      case "list": self = .list(id)
      default: return nil
      }
    }
  }
}
