import CouchSync
import Documents
import Stores

/// Where a client keeps how far it has come: local documents, as other replicators have them.
extension CouchDatabase {
  private static let limits = JSONLimits.small
  /// The most bytes of a checkpoint.
  static var checkpointBytes: Int { limits.maximumBytes }

  private func id(of client: String) throws(DocumentError) -> LocalID {
    try LocalID(client: LocalID.checkpoints(of: context.author, in: store.name) + client)
  }

  /// `getCheckpoint`.
  /// - Throws: 404 without a checkpoint; the store's errors.
  func checkpoint(of client: String?) async throws -> LiteReply {
    guard let client, let known = try await stored([client]).first ?? nil else {
      throw ServiceError.missing
    }
    return LiteReply(["rev": Self.revision(known)], body: known.body)
  }

  /// `setCheckpoint`. The sent revision must be the stored one.
  /// - Throws: 400 for a body that is no object; 409 `conflict`; the store's errors.
  func setCheckpoint(_ request: LiteRequest) async throws -> LiteReply {
    guard let client = request["client"] else {
      throw ServiceError.badRequest("`client` is missing")
    }
    let (id, base) = (try id(of: client), request["rev"] ?? "")
    let body = try DocumentBody(parsing: request.body, limits: Self.limits).bytes
    let written = try await store.update(as: context) { changes in
      let known = try changes.view.local(id)
      guard base.utf8.elementsEqual((known.map(Self.revision) ?? "").utf8) else {
        throw DocumentError.conflict
      }
      let next = LocalDocument(revision: (known?.revision ?? 0) &+ 1, body: body)
      changes.write(LocalEdit(id, next))
      return next
    }
    return LiteReply(["rev": Self.revision(written)])
  }

  /// The checkpoints of `getCollections`, each with its `rev`: `{}` for none, `null` for a collection that does not exist.
  func checkpoints(of clients: [String?]) async throws -> [UInt8] {
    let known = try await stored(clients)
    var writer = JSONWriter()
    writer.array(zip(clients, known)) { row, writer in
      guard row.0 != nil else { return writer.null() }
      writer.object { writer in
        guard let document = row.1 else { return }
        writer.member("rev", Self.revision(document))
        writer.members(of: document.body)
      }
    }
    return writer.bytes
  }

  private func stored(_ clients: [String?]) async throws -> [LocalDocument?] {
    // A client without a name that can be stored has no checkpoint.
    let ids = clients.map { client in client.flatMap { try? id(of: $0) } }
    return try await store.read { view in try ids.map { id in try id.flatMap(view.local) } }
  }

  private static func revision(_ document: LocalDocument) -> String { "0-\(document.revision)" }
}
