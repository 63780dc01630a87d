package import Documents
package import Stores

/// The remotes that people set for their own stores: for each direction a document in a database that no request can
/// name, whose id is that of the person and the direction.
package struct PersonRemotes: Sendable {
  /// Which way changes go.
  enum Direction: String, CaseIterable {
    case push
    case pull

    /// The member of a document that is the other server's database, and that of the person's own store.
    var ends: (remote: String, own: String) {
      self == .pull ? ("source", "target") : ("target", "source")
    }

    func id(of person: AccountID) throws -> DocumentID {
      try DocumentID(person.text + "/" + rawValue)
    }
  }

  /// The longest URL, in bytes.
  static let maximumURLBytes = 2 << 10
  /// What stands for the own store in a document.
  static let own = "own"
  /// The state of one that runs when the person asks for it. No replicator begins one with a state that it does not know.
  private static let idle = "idle"

  private let database: ReplicatorDatabase
  private let documents: ReplicatorDocuments
  private let seal: CredentialSeal

  package init(
    _ database: ReplicatorDatabase, _ documents: ReplicatorDocuments, _ seal: CredentialSeal
  ) { (self.database, self.documents, self.seal) = (database, documents, seal) }

  /// Sets a person's remote: `url`, `auth` or `headers`, `direction` (`push`, `pull`, `both`) and `continuous`.
  /// - Throws: 400 for a body that is wrong or has another member; the stores' errors.
  package func set(_ body: JSONNode, of person: AccountID, named name: String) async throws {
    try Self.checkMembers(of: body)
    let continuous = body["continuous"]
    guard continuous == nil || continuous?.bool != nil else {
      throw ServiceError.badRequest("`continuous` must be true or false")
    }
    let direction = body["direction"]
    let directions = Direction.allCases.filter {
      direction?.string == $0.rawValue || direction == nil || direction?.string == "both"
    }
    guard !directions.isEmpty else {
      throw ServiceError.badRequest("`direction` must be one of: both, pull, push")
    }
    var remote = JSONObject()
    for name in ["url", "auth", "headers"] {
      guard let member = body[name] else { continue }
      guard name == "url" || member.kind == .object else {
        throw ServiceError.badRequest("`\(name)` must be an object")
      }
      remote.append(name, member.value)
    }
    let end = try ParsedJSON(JSONValue.object(remote).bytes, limits: .document).root
    let endpoint = try ReplicationEndpoint(end, as: "url")
    guard endpoint.isRemote, endpoint.name.utf8.count <= Self.maximumURLBytes else {
      throw ServiceError.badRequest(
        "`url` must be the http or https URL of a database, at most \(Self.maximumURLBytes) bytes")
    }
    guard documents.jobs.allows(endpoint) else {
      throw ServiceError.badRequest("`url` has an address that is not allowed here")
    }
    var edits: [(DocumentID, JSONObject?)] = []
    for direction in Direction.allCases {
      var document: JSONObject?
      if directions.contains(direction) {
        let ends = direction.ends
        document = [
          ends.remote: .object(remote), ends.own: .string(Self.own), "name": .string(name),
          "continuous": .bool(continuous?.bool ?? true),
        ]
        if continuous?.bool == false { document?.append("_replication_state", .string(Self.idle)) }
      }
      edits.append((try direction.id(of: person), try await sealed(document)))
    }
    try await database.write(edits)
    documents.noteChange()
  }

  /// Refuses members that would have no effect: without a word a remote with misplaced credentials asks without them.
  private static func checkMembers(of body: JSONNode) throws {
    let known = [
      (body, "the body", ["url", "auth", "headers", "direction", "continuous"]),
      (body["auth"], "`auth`", ["basic"]),
      (body["auth"]?["basic"], "`auth.basic`", ["username", "password"]),
    ]
    for (node, place, names) in known {
      guard let node, node.kind == .object else { continue }
      for member in node.members where !names.contains(where: { member.nameEquals($0) }) {
        throw ServiceError.badRequest(
          "`\(member.name.prefix(40))` is not known in \(place), which may have "
            + names.joined(separator: ", ")
            + "; user name and password are `auth.basic.username` and `auth.basic.password`")
      }
    }
  }

  private func sealed(_ document: JSONObject?) async throws -> JSONObject? {
    guard let document else { return nil }
    let node = try ParsedJSON(JSONValue.object(document).bytes, limits: .document).root
    return try await seal.sealed(node).value.object
  }

  /// Forgets a person's remote.
  /// - Returns: whether there was one.
  package func remove(of person: AccountID) async throws -> Bool {
    let ids = try Direction.allCases.map { try $0.id(of: person) }
    let isThere = try await !database.bodies(of: ids).isEmpty
    if isThere { try await database.write(ids.map { ($0, nil) }) }
    documents.noteChange()
    return isThere
  }

  /// Copies at once what there is: runs one that the person begins by hand, and does not wait for the next attempt of one
  /// that has failed.
  /// - Returns: whether there is one.
  package func start(of person: AccountID) async throws -> Bool {
    let ids = try Direction.allCases.map { try $0.id(of: person) }
    // In one transaction, so that a remote that is set or forgotten meanwhile stays as it was set.
    let count = try await database.change(ids) { body in
      let members = body.members.filter {
        !DocumentBody.reservedMembers.contains($0.name) && $0.name != "asked"
      }
      var asked = JSONObject(members.map { ($0.name, $0.value) })
      // Another content, so that the document gets another revision.
      asked.append("asked", .count(Int.random(in: 0..<1 << 50)))
      return asked
    }
    documents.noteChange()
    return count > 0
  }

  /// A person's remote and how far it has come; nil for none.
  package func status(of person: AccountID) async throws -> JSONObject? {
    var (answer, directions): (JSONObject?, [(String, JSONValue)]) = (nil, [])
    for direction in Direction.allCases {
      let id = try direction.id(of: person)
      guard let (revision, body) = try await database.bodies(of: [id]).first else { continue }
      let remote = body[direction.ends.remote]
      answer = [
        "url": remote?["url"] ?? .null, "hasCredentials": .bool(remote?["sealed"] != nil),
        "continuous": body["continuous"] ?? true,
      ]
      let progress = try await documents.progress(of: id.text, body, at: revision)
      directions.append((direction.rawValue, .object(progress)))
    }
    answer?.append("direction", .string(directions.count > 1 ? "both" : directions.first?.0 ?? ""))
    for (name, progress) in directions { answer?.append(name, progress) }
    return answer
  }
}

extension ReplicationFailure {
  /// What a person is told who does not know CouchDB's words.
  static func plainWords(_ text: String) -> String {
    switch text.prefix(while: { $0 != ":" }) {
    case "unauthorized": "The other server does not accept the user name or the password."
    case "own_store_full": "Your own store is full. Delete something, and this server tries again."
    case "target_full": "The other server has no room to store more. This server tries again."
    case "forbidden": "The other server does not allow this."
    case "db_not_found": "There is no database at this address."
    case "http_request_failed": "The other server can't be reached. This server tries again."
    case "bad_answer": "The other server answers something else than a database does."
    default: "It did not succeed. This server tries again."
    }
  }
}
