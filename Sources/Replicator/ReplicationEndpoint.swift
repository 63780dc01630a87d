package import Documents
package import Stores

/// One end of a replication: a database of this server by its name, or one of another server by its URL, with what the
/// other server needs to know of the caller.
///
/// Source: CouchDB, "Replicator database: source and target".
package struct ReplicationEndpoint: Sendable, Hashable {
  /// Where the database is.
  enum Place: Sendable, Hashable {
    /// On this server.
    case local(name: String)
    /// A person's own store on this server.
    case own(Person)
    case remote(RemoteURL)
  }

  /// A user of this server.
  package struct Person: Sendable, Hashable {
    package let id: AccountID
    package let name: String
  }

  /// A field of each request.
  struct Field: Sendable, Hashable {
    let name: String
    let value: String
  }

  let place: Place
  /// The user name, which is part of a replication's id; nil without credentials.
  let user: String?
  /// The fields that the request names, sorted by name, without `Authorization`.
  let fields: [Field]
  /// The value of `Authorization`; nil for none. It is never shown.
  let authorization: String?

  /// The most fields of one end.
  static let maximumFields = 32
  /// The longest URL and the longest value of a field, in bytes: 8 KiB.
  static let maximumBytes = 8 << 10
  /// Fields that a client of HTTP sets itself.
  private static let ownFields: Set<String> = [
    "host", "content-length", "content-type", "transfer-encoding", "connection", "te", "upgrade",
    "accept", "accept-encoding", "expect", "trailer", "keep-alive", "proxy-connection",
  ]

  /// A person's own store. The requests to it are the person's.
  init(ownOf person: Person) { (place, user, fields, authorization) = (.own(person), nil, [], nil) }

  /// Reads a name, a URL, or an object with `url`, `headers` and `auth`.
  /// - Parameter role: `source` or `target`, for texts.
  /// - Throws: 400 `bad_request`.
  package init(_ node: JSONNode?, as role: String) throws {
    guard let node else { throw ServiceError.badRequest("Missing replicator database: `\(role)`") }
    let text = node.string ?? node["url"]?.string
    guard let text, text.utf8.count <= Self.maximumBytes else {
      throw ServiceError.badRequest("`\(role)` has an invalid url")
    }
    if node.kind == .string, DatabaseName(text) != nil {
      (place, user, fields, authorization) = (.local(name: text), nil, [], nil)
      return
    }
    guard let url = RemoteURL(text) else {
      throw ServiceError.badRequest(
        "`\(role)` is neither a URL of http or https nor the name of a database here")
    }
    let sent = try Self.fields(node["headers"], role)
    let basic = try Self.basic(node["auth"]?["basic"], role)
    place = .remote(url)
    let credentials = basic ?? url.credentials
    let other = sent.first { $0.name == "authorization" }?.value
    user = credentials?.user
    authorization = credentials?.field ?? other
    fields = sent.filter { $0.name != "authorization" }
  }

  /// The name by which answers and logs call it, without credentials.
  package var name: String {
    switch place {
    case .local(let name): name
    case .own(let person): "user-" + person.id.text
    case .remote(let url): url.base
    }
  }

  var isLocal: Bool { if case .local = place { true } else { false } }
  var person: AccountID? { if case .own(let person) = place { person.id } else { nil } }
  var isRemote: Bool { if case .remote = place { true } else { false } }

  private static func fields(_ node: JSONNode?, _ role: String) throws -> [Field] {
    guard let node else { return [] }
    var fields: [String: String] = [:]
    guard node.kind == .object, node.count <= maximumFields else {
      throw ServiceError.badRequest(
        "`headers` of `\(role)` is an object of at most \(maximumFields) members")
    }
    for member in node.members {
      let name = member.name.lowercased()
      guard let value = member.value.string, value.utf8.count <= maximumBytes, !name.isEmpty,
        name.utf8.allSatisfy({ PathSegment.isUnreserved($0) }),
        value.utf8.allSatisfy({ (0x20...0x7E).contains($0) || $0 >= 0x80 })
      else { throw ServiceError.badRequest("`headers` of `\(role)` are no fields of HTTP") }
      guard !ownFields.contains(name) else { continue }
      fields[name] = value
    }
    return fields.sorted { $0.key < $1.key }.map { Field(name: $0.key, value: $0.value) }
  }

  private static func basic(_ node: JSONNode?, _ role: String) throws -> RemoteURL.Credentials? {
    guard let node else { return nil }
    guard let user = node["username"]?.string, let password = node["password"]?.string else {
      throw ServiceError.badRequest("`auth.basic` of `\(role)` needs `username` and `password`")
    }
    return RemoteURL.Credentials(user: user, password: password)
  }
}

extension ReplicationEndpoint: CustomStringConvertible, CustomReflectable {
  package var description: String { name }
  /// Without members, so that no dump contains credentials.
  package var customMirror: Mirror { Mirror(self, children: [(label: String?, value: Any)]()) }
}
