import Documents
import NIOHTTP1

/// The database, its checkpoints and its changes.
///
/// Source: CouchDB, "Replication protocol".
extension ReplicationPeer {
  /// Makes sure that the database is there.
  /// - Parameter creation: the query with which an absent one is created; nil if none is.
  /// - Returns: the start time of its instance.
  /// - Throws: ``ReplicationFailure`` with CouchDB's words.
  func open(creating creation: String? = nil) async throws -> String {
    var refusal: ReplicationFailure?
    if let creation {
      let made = try await send(.PUT, creation, attempts: attemptsToOpen)
      if [401, 403].contains(made.status) { throw await refused(made, "") }
      // A database that is there is used, whatever its server says of the request.
      if made.status >= 400 { refusal = await refused(made, "creation") }
    }
    let answer = try await send(.GET, upTo: PeerAnswer.shortBytes, attempts: attemptsToOpen)
    if [401, 403].contains(answer.status) { throw await refused(answer, "") }
    let info = try? await computing { try await answer.json() }
    guard answer.status == 200, let info, info["update_seq"] != nil,
      let time = info["instance_start_time"]?.short
    else { throw refusal ?? ReplicationFailure.notFound(name) }
    return String(decoding: time.minified, as: UTF8.self)
  }

  /// The code of a filter, `design/name`; nil for one of the server's own, such as `_view`.
  /// - Throws: ``ReplicationFailure``, as in CouchDB also for one that can't be read.
  func code(ofFilter filter: String) async throws -> String? {
    let parts = filter.utf8.split(separator: UInt8(ascii: "/"), maxSplits: 1)
      .map { String(Substring($0)) }
    guard parts.count == 2 else { return nil }
    let design = try await send(.GET, "_design/" + PathSegment.encode(parts[0]))
    let code = try await computing { try? await design.json()["filters"]?[parts[1]]?.string }
    guard design.status == 200, let code else {
      throw ReplicationFailure(
        "not_found", "\(name): filter \(filter) can't be read: " + (await design.described()))
    }
    return code
  }

  /// Makes sure that all that was written is on the disk of the peer.
  /// - Returns: the start time of its instance.
  /// - Throws: ``ReplicationFailure``.
  func commit() async throws -> String {
    let answer = try await send(.POST, "_ensure_full_commit", body: [])
    guard answer.status == 201,
      let time = try? await answer.json(within: ReplicationLog.limits)["instance_start_time"]?.short
    else {
      throw ReplicationFailure.checkpoint("Failure on commit: \(name): status \(answer.status)")
    }
    return String(decoding: time.minified, as: UTF8.self)
  }

  private static func path(ofLog id: String) -> String { "_local/" + PathSegment.encode(id) }

  /// The checkpoint of a replication; an empty one if none is stored.
  /// - Throws: ``ReplicationFailure``.
  func log(_ id: String) async throws -> ReplicationLog {
    let answer = try await send(
      .GET, Self.path(ofLog: id), upTo: ReplicationLog.limits.maximumBytes,
      attempts: attemptsToOpen)
    guard answer.status != 404 else { return ReplicationLog() }
    guard answer.status == 200 else {
      throw ReplicationFailure.badAnswer(name, "checkpoint: " + (await answer.described()))
    }
    return try await computing {
      guard let node = try? await answer.json(within: ReplicationLog.limits), node.kind == .object
      else { throw ReplicationFailure.badAnswer(name, "its checkpoint can't be read") }
      return ReplicationLog(node)
    }
  }

  /// Stores a checkpoint.
  /// - Returns: the checkpoint with its new revision.
  /// - Throws: ``ReplicationFailure``.
  func save(
    _ body: JSONObject, of session: String, after log: ReplicationLog, id: String
  ) async throws -> ReplicationLog {
    var document: JSONObject = ["_id": .string("_local/" + id)]
    if let revision = log.revision { document.append("_rev", .string(revision)) }
    for (name, value) in body.members { document.append(name, value) }
    let answer = try await send(.PUT, Self.path(ofLog: id), body: JSONValue.object(document).bytes)
    var saved = ReplicationLog()
    saved.body = body
    if answer.status == 409 {
      // The answer to an earlier attempt may be lost.
      let stored = try await self.log(id)
      guard stored.isOf(session) else { throw ReplicationFailure.checkpoint("conflict at \(name)") }
      saved.revision = stored.revision
      return saved
    }
    guard [200, 201, 202].contains(answer.status) else {
      throw ReplicationFailure.checkpoint("\(name): " + (await answer.described()))
    }
    let rev = try? await answer.json(within: ReplicationLog.limits)["rev"]
    saved.revision = rev?.sequence?.string
    return saved
  }

  /// How long a source may wait for the first change.
  static let waits = Duration.milliseconds(100)...Duration.seconds(20)

  /// Waits at the source until there is a change.
  /// - Returns: the answer if there is none for a while; nil if there are some, which are still to be read.
  /// - Throws: ``ReplicationFailure``.
  func noChanges(
    since: JSONValue, of request: ReplicationRequest, for wait: Duration
  ) async throws -> PeerChanges? {
    do {
      let answer = try await changes(since: since, limit: 1, of: request, waiting: wait)
      return answer.rows.isEmpty ? answer : nil
    } catch is TooLongAnswer { return nil }
  }

  /// Reads changes.
  /// - Parameter wait: how long the source waits until there is one; nil for not at all. Such an answer is short.
  /// - Throws: ``ReplicationFailure``; ``TooLongAnswer``.
  func changes(
    since: JSONValue, limit: Int, of request: ReplicationRequest, waiting wait: Duration? = nil
  ) async throws -> PeerChanges {
    let longest = wait == nil ? PeerAnswer.maximumBytes : PeerAnswer.shortBytes
    let since = since.sequenceText
    let milliseconds = (wait ?? Self.waits.upperBound) / .milliseconds(1)
    let style = request.winnersOnly ? "main_only" : "all_docs"
    let (filter, body): ([String: String], [UInt8]?) =
      switch request.filter {
      case .all: ([:], nil)
      case .documents(let ids):
        (
          ["filter": "_doc_ids"],
          JSONValue.object(["doc_ids": .array(ids.map { .string($0) })]).bytes
        )
      case .selector(let text):
        (["filter": "_selector"], Array(#"{"selector":"#.utf8) + text + [UInt8(ascii: "}")])
      case .named(let parameters): (parameters, nil)
      }
    let own = [
      "feed": wait == nil ? "normal" : "longpoll", "style": style, "since": since,
      "limit": String(limit), "timeout": String(Int(milliseconds)),
    ]
    let answer = try await send(
      body == nil ? .GET : .POST, "_changes",
      own.merging(filter) { own, _ in own }.map { ($0.key, $0.value) }, body: body, upTo: longest)
    guard answer.status == 200 else { throw await refused(answer, "changes") }
    return try await computing {
      guard let node = try? await answer.json(),
        let changes = try await PeerChanges.read(node, atMost: limit)
      else { throw ReplicationFailure.badAnswer(name, "its changes are malformed") }
      return changes
    }
  }

  /// The failure for a request that the peer refuses as a whole.
  func refused(_ answer: PeerAnswer, _ what: String) async -> ReplicationFailure {
    switch answer.status {
    case 401: ReplicationFailure.refused("unauthorized", name)
    case 403: ReplicationFailure.refused("forbidden", name)
    case 404: ReplicationFailure.notFound(name)
    default: ReplicationFailure.badAnswer(name, what + ": " + (await answer.described()))
    }
  }
}
