import Documents
import Scheduling
package import Stores

/// A database whose documents are replications.
///
/// Source: CouchDB, "Replicator database".
package struct ReplicatorDatabase: Sendable {
  /// Some changed documents.
  struct Page: Sendable {
    /// In the order of their changes; empty at the end.
    let documents: [Changed]
    /// Identifies the database among all of its name.
    let epoch: String
  }

  /// A changed document.
  struct Changed: Sendable {
    let id: DocumentID
    /// That of the change.
    let sequence: Int64
    /// The document, or why it can't be read.
    let content: Result<Document, any Error>
  }

  /// Who begins the replications of a database that several servers share, and how often the server has said so.
  struct Owner: Sendable, Equatable {
    let node: String
    let beat: Int
  }

  /// How many bytes of bodies are read at a time, and how many documents.
  private static let pageBytes = 4 << 20
  private static let pageDocuments = 100
  /// A note that no request can read.
  private static let ownerID = LocalID(receipt: "replicator")

  package let name: DatabaseName
  private let stores: DatabaseManager

  package init(_ name: DatabaseName, in stores: DatabaseManager) {
    (self.name, self.stores) = (name, stores)
  }

  /// The documents that changed after a sequence number.
  /// - Returns: nil if there is no such database.
  func changes(after sequence: Int64) async throws -> Page? {
    do {
      return try await stores.read(.named(name)) { view in
        var (documents, bytes): ([Changed], Int) = ([], 0)
        try view.changedDocuments(after: sequence, limit: Self.pageDocuments) { document in
          documents.append(
            Changed(id: document.id, sequence: document.sequence, content: .success(document)))
          bytes += document.body.count
          return bytes < Self.pageBytes && !view.slice.isOver
        }
        return try Page(documents, of: view)
      }
    } catch {
      guard ServiceError(error)?.code == .integrity else { throw error }
      return try await eachChange(after: sequence)
    }
  }

  /// The documents that changed after a sequence number, each read by itself, because one of them can't be read.
  private func eachChange(after sequence: Int64) async throws -> Page? {
    let changes = try await stores.read(.named(name)) { view in
      (try view.changes(after: sequence, limit: Self.pageDocuments), try Page([], of: view).epoch)
    }
    guard let (changes, epoch) = changes else { return nil }
    var documents: [Changed] = []
    for change in changes {
      let content: Result<Document, any Error>
      do {
        // One that is purged meanwhile is none of the changes any more.
        guard let document = try await document(change.id) else { continue }
        content = .success(document)
      } catch { content = .failure(error) }
      documents.append(Changed(id: change.id, sequence: change.sequence, content: content))
    }
    return Page(documents: documents, epoch: epoch)
  }

  /// A document as it is now; nil if there is none.
  func document(_ id: DocumentID) async throws -> Document? {
    try await stores.read(.named(name)) { view in try view.document(id) } ?? nil
  }

  /// The members in which a replicator notes what became of a replication.
  private static let notes = [
    "_replication_state", "_replication_state_time", "_replication_state_reason",
    "_replication_stats", "_replication_id",
  ]

  /// Notes in a document what became of its replication, instead of what was noted there before. A document that was changed
  /// meanwhile stays as it is. Former bodies, which have encrypted credentials, are not kept.
  /// - Parameter members: the members to set.
  func note(_ members: JSONObject, in id: DocumentID, _ revision: RevisionID) async throws {
    try await stores.updateIfPresent(.named(name), loading: [id], as: .server) {
      [notes = Self.notes] changes in
      changes.keepsHistory = false
      guard let document = try changes.view.document(id), document.revision == revision,
        let body = try JSONValue(parsing: document.body, limits: .stored).object
      else { return }
      var noted = JSONObject(
        body.members.filter { !notes.contains($0.name) }.map { ($0.name, $0.value) })
      for (name, value) in members.members { noted.append(name, value) }
      let bytes = JSONValue.object(noted).bytes
      try changes.put(id, base: revision, body: try DocumentBody(parsing: bytes, limits: .stored))
    }
  }

  /// The bodies of those documents that are there.
  func bodies(of ids: [DocumentID]) async throws -> [(revision: RevisionID, body: JSONObject)] {
    try await stores.read(.named(name)) { view in
      try ids.compactMap { id in
        guard let document = try view.document(id), !document.isDeleted else { return nil }
        return try JSONValue(parsing: document.body, limits: .stored).object.map {
          (revision: document.revision, body: $0)
        }
      }
    } ?? []
  }

  /// Writes documents, or deletes those without a body, in one transaction. Former bodies are not kept, nor what was
  /// published of their replications.
  func write(_ documents: [(DocumentID, JSONObject?)]) async throws {
    try await stores.withStore(.named(name)) { store in
      _ = try await store.update(loading: Set(documents.map { $0.0 }), as: .server) { changes in
        changes.keepsHistory = false
        for (id, body) in documents {
          changes.write(LocalEdit(.progress(of: id.text), nil))
          let present = try changes.view.document(id)
          let base = present.flatMap { $0.isDeleted ? nil : $0.revision }
          if let body {
            try changes.put(id, base: base, body: try DocumentBody(JSONValue.object(body)))
          } else if let base {
            try changes.delete(id, base: base)
          }
        }
      }
    }
  }

  /// Changes the bodies of those documents that are there, in one transaction. Former bodies are not kept.
  /// - Returns: how many were changed.
  func change(
    _ ids: [DocumentID], _ change: @escaping @Sendable (JSONObject) -> JSONObject
  ) async throws -> Int {
    try await stores.updateIfPresent(.named(name), loading: Set(ids), as: .server) { changes in
      changes.keepsHistory = false
      var count = 0
      for id in ids {
        guard let document = try changes.view.document(id), !document.isDeleted,
          let body = try JSONValue(parsing: document.body, limits: .stored).object
        else { continue }
        let changed = try DocumentBody(JSONValue.object(change(body)))
        try changes.put(id, base: document.revision, body: changed)
        count += 1
      }
      return count
    } ?? 0
  }

  /// What another server has published of a document's replication; nil for nothing.
  func published(_ id: String) async throws -> JSONObject? {
    try await stores.readInline(.named(name)) { view in
      try view.local(.progress(of: id)).flatMap {
        try JSONValue(parsing: $0.body, limits: .small).object
      }
    } ?? nil
  }

  /// Publishes how far replications have come, in one transaction; nil for one that has ended.
  func publish(_ progress: [(id: String, progress: JSONObject?)]) async throws {
    try await stores.updateIfPresent(.named(name), as: .server) { changes in
      for (id, progress) in progress {
        let note = progress.map {
          LocalDocument(revision: 1, body: JSONValue.object($0).bytes)
        }
        changes.write(LocalEdit(.progress(of: id), note))
      }
    }
  }

  /// Claims the replications of the database, or renews the claim.
  /// - Parameter lost: an owner who has been silent for long, and loses the claim; nil for none.
  /// - Returns: the present owner; nil if there is no such database.
  func claim(as node: String, from lost: Owner?) async throws -> Owner? {
    try await stores.updateIfPresent(.named(name), as: .server) { changes in
      let known = try changes.local(Self.ownerID)
      let owner = known.flatMap { Owner($0.body) }
      if let owner, owner.node != node, !owner.node.isEmpty, owner != lost { return owner }
      let next = Owner(node: node, beat: (owner?.beat ?? 0) &+ 1)
      changes.write(next.edit(of: Self.ownerID, after: known))
      return next
    }
  }

  /// Gives the claim back, so that another server need not wait.
  func release(as node: String) async throws {
    try await stores.updateIfPresent(.named(name), as: .server) { changes in
      let known = try changes.local(Self.ownerID)
      guard let owner = known.flatMap({ Owner($0.body) }), owner.node == node else { return }
      changes.write(Owner(node: "", beat: owner.beat &+ 1).edit(of: Self.ownerID, after: known))
    }
  }
}

extension ReplicatorDatabase.Page {
  fileprivate init(_ documents: [ReplicatorDatabase.Changed], of view: any StoreView) throws {
    let info = try view.info()
    self.init(documents: documents, epoch: info.firstEpoch + info.epoch)
  }
}

extension ReplicatorDatabase.Owner {
  fileprivate init?(_ bytes: [UInt8]) {
    guard let object = try? JSONValue(parsing: bytes, limits: .small).object,
      let node = object["node"]?.string, let beat = object["beat"]?.int
    else { return nil }
    (self.node, self.beat) = (node, beat)
  }

  fileprivate func edit(of id: LocalID, after known: LocalDocument?) -> LocalEdit {
    let body: JSONValue = ["node": .string(node), "beat": .count(beat)]
    return LocalEdit(id, LocalDocument(revision: (known?.revision ?? 0) &+ 1, body: body.bytes))
  }
}
