import Documents

/// The name of a store. Names of different namespaces are always different, whatever a user is called.
package indirect enum StoreName: Hashable, Sendable {
  case guest(AccountID)
  case user(AccountID)
  case list(AccountID)
  /// The service's own documents: accounts, sessions, revocations.
  case system
  /// A database that the administrator created.
  case named(DatabaseName)
  /// A store that is filled and then takes the place of another one. No client can ask for it. An import has an id of
  /// its own, because several processes may import into one account; a copy from another engine has none. See
  /// ``DatabaseManager/fill(_:_:)``.
  case staged(StoreName, by: AccountID? = nil)

  /// The name as text, unique over all names: in the registry, hashed in file names, and as the kind in
  /// metrics.
  package var key: String {
    switch self {
    case .guest(let id): "guest/" + id.text
    case .user(let id): "user/" + id.text
    case .list(let id): "list/" + id.text
    case .system: "system"
    case .named(let name): "named/" + name.text
    case .staged(let name, let id):
      Self.stagedNamespace + "/" + (id.map { $0.text + "/" } ?? "") + name.key
    }
  }

  /// The namespace of staged stores. When the service starts, every store in it is left from an interrupted
  /// import.
  package static let stagedNamespace = "staged"

  /// All other namespaces, in byte order, which is also the order of ``key``.
  package static let namespaces = ["guest", "list", "named", "system", "user"]

  /// The name's namespace: one of ``namespaces``, or ``stagedNamespace``.
  package var namespace: String {
    switch self {
    case .guest: "guest"
    case .user: "user"
    case .list: "list"
    case .system: "system"
    case .named: "named"
    case .staged: Self.stagedNamespace
    }
  }

  /// Whether this is the store of a guest, a user or a list, not the service's own or the administrator's.
  package var isPersonal: Bool {
    switch self {
    case .guest, .user, .list: true
    case .system, .named, .staged: false
    }
  }

  /// Whether the creation of this store makes a new guest or a new list. A user is new before the store is
  /// created.
  package var isNewcomers: Bool {
    switch self {
    case .guest, .list: true
    case .user, .system, .named, .staged: false
    }
  }

  var isGuest: Bool { if case .guest = self { true } else { false } }

  package var isUser: Bool { if case .user = self { true } else { false } }

  /// Reads a ``key``; nil for any other text.
  package init?(key: String) {
    if key.equalsBytes(of: "system") {
      self = .system
      return
    }
    guard let slash = key.utf8.firstIndex(of: UInt8(ascii: "/")) else { return nil }
    // The search uses bytes: as a character, a slash may include a combining mark.
    let rest = String(key[key.utf8.index(after: slash)...])
    switch key[..<slash] {
    case "named":
      guard let name = DatabaseName(rest) else { return nil }
      self = .named(name)
    case Substring(Self.stagedNamespace):
      // No namespace is 32 digits.
      let id = AccountID(
        String(decoding: rest.utf8.prefix { $0 != UInt8(ascii: "/") }, as: UTF8.self))
      let key = id == nil ? rest : String(decoding: rest.utf8.dropFirst(33), as: UTF8.self)
      guard let name = StoreName(key: key), name.namespace != Self.stagedNamespace else {
        return nil
      }
      self = .staged(name, by: id)
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
