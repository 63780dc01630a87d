package import Documents
import Stores

/// What a replication does: its ends and its options.
///
/// Source: CouchDB, "POST /_replicate" and "Replicator database".
package struct ReplicationRequest: Sendable, Equatable {
  /// Which changes of the source are read.
  enum Filter: Sendable, Hashable {
    case all
    /// Those of documents, sorted, each once.
    case documents([String])
    /// Those of documents that match a selector, in canonical JSON.
    case selector([UInt8])
    /// Those that a filter of the source lets through: the parameters of `_changes`, `filter` among them.
    case named([String: String])
  }

  let source: ReplicationEndpoint
  let target: ReplicationEndpoint
  /// Who asked for it, or who a document says did, for the administrator's lists; nil if nobody is named.
  private(set) var user: String?
  /// Whether it waits for further changes when it has read all.
  let isContinuous: Bool
  /// Whether the target is created if it is absent.
  let createsTarget: Bool
  /// The query with which it is created, such as `?q=2&n=1`; empty for none.
  let creation: String
  let filter: Filter
  /// Where it begins as long as it has no checkpoint, instead of at the first change.
  let since: JSONValue?
  let usesCheckpoints: Bool
  /// The time from one checkpoint to the next.
  let checkpointInterval: Duration
  /// Whether only winners are read, not conflicts.
  let winnersOnly: Bool
  /// Whether the source is asked for several documents at once.
  let usesBulkGet: Bool

  /// Whether an end is a database of this server.
  var isLocal: Bool { source.isLocal || target.isLocal }

  /// Whose own remote it is; nil for the administrator's.
  var person: AccountID? { source.person ?? target.person }

  /// The longest name of a user that is kept, in characters.
  private static let mostOfName = 200
  /// The most ids of documents.
  static let maximumDocuments = 10_000
  /// The longest text of `create_target_params` and of `query_params`, in bytes.
  private static let maximumParameters = 1_000
  /// The bounds of the time between two checkpoints, in milliseconds, and the standard of CouchDB.
  static let intervals = 100...3_600_000
  static let standardInterval = 30_000

  /// Reads a body.
  /// - Parameter own: what ``PersonRemotes/own`` stands for.
  /// - Parameter user: who asks for it; nil for a document.
  /// - Throws: 400 `bad_request`; 501 for what is not offered.
  package init(_ body: JSONNode, own: ReplicationEndpoint? = nil, by user: String? = nil) throws {
    self.user = (user ?? body["user_ctx"]?["name"]?.string).map {
      String($0.prefix(Self.mostOfName))
    }
    filter = try Self.filter(body)
    func end(_ role: String) throws -> ReplicationEndpoint {
      if let own, body[role]?.stringEquals(PersonRemotes.own) ?? false { return own }
      return try ReplicationEndpoint(body[role], as: role)
    }
    (source, target) = (try end("source"), try end("target"))
    var refused = ["proxy", "source_proxy", "target_proxy"]
    if !source.isRemote, case .named(let parameters) = filter, parameters["filter"] != "_design" {
      refused.append("filter")
    }
    for name in refused where body[name].map({ !$0.isNull && !$0.stringEquals("") }) == true {
      throw ServiceError(
        .notImplemented,
        "`\(name)` is not offered here; `selector` and `doc_ids` choose documents")
    }
    isContinuous = try Self.flag(body, "continuous") ?? false
    createsTarget = try Self.flag(body, "create_target") ?? false
    let parameters = try Self.parameters(body, "create_target_params", are: "a JSON object")
    let pairs = parameters.map { PathSegment.encode($0.name) + "=" + PathSegment.encode($0.value) }
    creation = pairs.isEmpty ? "" : "?" + pairs.joined(separator: "&")
    usesCheckpoints = try Self.flag(body, "use_checkpoints") ?? true
    winnersOnly = try Self.flag(body, "winning_revs_only") ?? false
    usesBulkGet = try Self.flag(body, "use_bulk_get") ?? true
    let since = body["since_seq"].flatMap { $0.isNull ? nil : $0 }
    self.since = since?.sequence
    guard since == nil || self.since != nil else {
      throw ServiceError.badRequest("parameter `since_seq` must be a sequence")
    }
    let interval = body["checkpoint_interval"]
    let milliseconds = interval?.int ?? interval?.string.flatMap { Int($0) }
    guard interval == nil || milliseconds != nil else {
      throw ServiceError.badRequest("parameter `checkpoint_interval` must be an integer")
    }
    let wanted = max(milliseconds ?? Self.standardInterval, Self.intervals.lowerBound)
    checkpointInterval = .milliseconds(min(wanted, Self.intervals.upperBound))
  }

  fileprivate static func flag(_ body: JSONNode, _ name: String) throws -> Bool? {
    guard let node = body[name] else { return nil }
    guard let flag = node.bool else {
      throw ServiceError.badRequest("parameter `\(name)` must be a boolean")
    }
    return flag
  }

  /// The parameters of a query, in the order of the object that names them.
  private static func parameters(
    _ body: JSONNode, _ name: String, are what: String
  ) throws -> [(name: String, value: String)] {
    guard let node = body[name] else { return [] }
    guard node.kind == .object else {
      throw ServiceError.badRequest("parameter `\(name)` must be \(what)")
    }
    guard node.offsets.count <= maximumParameters else {
      throw ServiceError.badRequest("parameter `\(name)` is too long")
    }
    return node.members.map {
      ($0.name, $0.value.string ?? String(decoding: $0.value.minified, as: UTF8.self))
    }
  }

  private static func filter(_ body: JSONNode) throws -> Filter {
    let documents = body["doc_ids"].flatMap { $0.isNull ? nil : $0 }
    let name = body["filter"].flatMap { $0.isNull ? nil : $0 }
    let selector = body["selector"]
    let parameters = try parameters(body, "query_params", are: "an object")
    guard [documents != nil, selector != nil, name != nil].count(where: \.self) <= 1 else {
      throw ServiceError.badRequest("`doc_ids`,`filter`,`selector` are mutually exclusive")
    }
    if let selector {
      guard selector.kind == .object else {
        throw ServiceError.badRequest("parameter `selector` must be a JSON object")
      }
      return .selector(selector.canonical)
    }
    if let name, !name.stringEquals("") {
      guard let text = name.string,
        text.utf8.first == UInt8(ascii: "_") || text.utf8.contains(UInt8(ascii: "/"))
      else {
        throw ServiceError.badRequest("Invalid filter. Must match `ddocname/filtername`.")
      }
      return .named(Dictionary(parameters) { $1 }.merging(["filter": text]) { $1 })
    }
    guard let documents else { return .all }
    guard documents.kind == .array else {
      throw ServiceError.badRequest("parameter `doc_ids` must be an array")
    }
    guard documents.count <= maximumDocuments else {
      throw ServiceError.badRequest("parameter `doc_ids` has more than \(maximumDocuments) ids")
    }
    var ids: Set<String> = []
    for element in documents.elements {
      // As in CouchDB, ids may be percent-encoded.
      guard let text = element.string, let id = RemoteURL.decoded(text) else {
        throw ServiceError.badRequest("parameter `doc_ids` must be an array of ids")
      }
      ids.insert(id)
    }
    return .documents(ids.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
  }

  /// Checks a document that describes a replication before it is written. One that is deleted, or that says that its
  /// replication has failed, need not be right, and what is not offered here fails when it begins.
  ///
  /// Source: CouchDB, `couch_replicator_docs:before_doc_update/3`.
  /// - Parameter user: who writes it.
  /// - Returns: the document, which names its `owner`.
  /// - Throws: 403 `forbidden`.
  package static func checked(_ document: JSONNode, by user: String?) throws -> JSONNode {
    guard document["_deleted"]?.bool != true else { return document }
    do {
      if document["_replication_state"]?.stringEquals("failed") != true {
        _ = try ReplicationRequest(document)
      }
    } catch let error as ServiceError where error.code == .badRequest {
      throw ServiceError(.forbidden, error.reason)
    } catch let error as ServiceError where error.code == .notImplemented {}
    guard let user, document["owner"]?.isNull ?? true else { return document }
    let others = document.members.filter { !$0.nameEquals("owner") }
    let members = others.map { ($0.name, $0.value.value) } + [("owner", .string(user))]
    return try ParsedJSON(JSONValue.object(JSONObject(members)).bytes, limits: .stored).root
  }

  /// Whether another request has the same ends, passwords and options, whoever asks.
  func isSame(as other: ReplicationRequest) -> Bool {
    var other = other
    other.user = user
    return self == other
  }

  /// The id of the checkpoints: 32 hex digits. It depends on this server, the ends without their passwords, the filter and
  /// `since_seq`, so that the same request continues where the last one ended. CouchDB hashes the same ingredients, in
  /// Erlang's form.
  ///
  /// Source: CouchDB, `couch_replicator_ids:replication_id/2`, version 4.
  /// - Parameter server: the id of this server, which stays the same as long as its data exist.
  package func baseID(on server: String) -> String {
    var parts: [JSONValue] = [.string(server), Self.part(source), Self.part(target)]
    switch filter {
    case .all: break
    case .documents(let ids): parts.append(.array(ids.map { .string($0) }))
    case .selector(let text): parts.append(.string(String(decoding: text, as: UTF8.self)))
    case .named(let parameters):
      let sorted = parameters.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
      parts.append(.array(sorted.map { .array([.string($0.key), .string($0.value)]) }))
    }
    if winnersOnly { parts.append("winning_revs_only") }
    // Its checkpoints say nothing of what is before it.
    if let since { parts.append(since) }
    let text = String(decoding: JSONValue.array(parts).bytes, as: UTF8.self)
    return Hex.digest(of: "replication " + text, digits: 32)
  }

  /// The id of the replication, as CouchDB forms it.
  package func id(on server: String) -> String {
    baseID(on: server) + (isContinuous ? "+continuous" : "")
      + (createsTarget ? "+create_target" : "")
  }

  private static func part(_ end: ReplicationEndpoint) -> JSONValue {
    switch end.place {
    case .local, .own: return .array(["local", .string(end.name)])
    case .remote(let url):
      return .array([
        "remote", end.user.map { .string($0) } ?? .null, .string(url.host),
        url.port.map { JSONValue.count($0) } ?? "default", .string(url.path),
        .array(end.fields.map { .array([.string($0.name), .string($0.value)]) }),
      ])
    }
  }
}

/// A request to end a replication: by its id, or by the same body with `cancel`.
package enum ReplicationCancellation {
  /// Whether a body asks for it.
  /// - Throws: 400 `bad_request`.
  package static func isAsked(_ body: JSONNode) throws -> Bool {
    try ReplicationRequest.flag(body, "cancel") ?? false
  }

  /// The id in a body; nil if the body describes the replication instead. A space stands for a `+` that was decoded as
  /// in a form.
  package static func id(in body: JSONNode) -> String? {
    for name in ["_local_id", "replication_id", "id"] {
      if let id = body[name]?.string {
        return String(decoding: id.utf8.map { $0 == 0x20 ? 0x2B : $0 }, as: UTF8.self)
      }
    }
    return nil
  }
}
