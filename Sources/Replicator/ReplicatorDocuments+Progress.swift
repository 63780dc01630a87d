package import Documents
import Scheduling
import Stores
import Synchronization

/// What others see of the replications that documents describe.
extension ReplicatorDocuments {
  /// How far a document's replication has come, for the person whose it is.
  /// - Parameter stored: the document as it is now, which this server may not have read yet. What it knows of a former one
  ///   says nothing of it.
  func progress(
    of id: String, _ stored: JSONObject, at revision: RevisionID?
  ) async throws -> JSONObject {
    let document = state.withLock { $0.documents[id] }
    let known = document.flatMap { [nil, revision].contains($0.revision) ? $0 : nil }
    if let present = known.flatMap(present) { return present }
    if let trouble = known?.trouble {
      return [
        "state": trouble.isLasting ? "failed" : "crashing",
        "error": "It can't be begun now. This server tries again.",
        "reason": .string(trouble.reason),
      ]
    }
    guard let noted = stored["_replication_state"]?.string else {
      return try await database.published(id) ?? ["state": "initializing"]
    }
    var progress: JSONObject = ["state": .string(noted)]
    if let time = stored["_replication_state_time"] { progress.append("updated", time) }
    if let reason = stored["_replication_state_reason"] {
      progress.append("error", "It can't be done as it is set.")
      progress.append("reason", reason)
    }
    for name in ["done", "total", "refused", "bytes"] {
      if let count = stored["_replication_stats"]?[name] { progress.append(name, count) }
    }
    return progress
  }

  /// How many are published in one transaction.
  private static let publishedAtOnce = 50

  /// Lets the servers that share the database know how far those replications have come that run here and have changed.
  func publish() async throws {
    var rest = Array(jobs.takeUnpublished())
    do {
      while !rest.isEmpty {
        let piece = rest.suffix(Self.publishedAtOnce)
        try await database.publish(
          piece.map { id in
            (id: id, progress: state.withLock { $0.documents[id] }.flatMap(present))
          })
        rest.removeLast(piece.count)
        try await Slice.giveWay()
      }
    } catch {
      jobs.keepUnpublished(rest)
      throw error
    }
  }

  /// The progress of a document's replication that runs here; nil for none.
  private func present(of document: ReplicatorDocument) -> JSONObject? {
    guard document.note == nil else { return nil }
    return document.job.flatMap { jobs.job($0)?.plainProgress }
  }

  /// The elements of `_scheduler/docs`, ordered by id.
  package var scheduled: [JSONObject] {
    state.withLock { Array($0.documents.values) }
      .sorted { $0.id.text.utf8.lexicographicallyPrecedes($1.id.text.utf8) }.map(element)
  }

  /// One of them; also one that was written just now and that nobody has read yet.
  package func scheduled(_ id: String) async throws -> JSONObject? {
    if let known = state.withLock({ $0.documents[id] }) { return element(known) }
    guard let id = try? DocumentID(id), !id.isDesign,
      let stored = try await database.document(id), !stored.isDeleted
    else { return nil }
    return element(ReplicatorDocument(stored, try ParsedJSON(stored.body, limits: .stored).root))
  }

  private func element(_ document: ReplicatorDocument) -> JSONObject {
    document.scheduled(in: database.name.text, document.job.flatMap { jobs.job($0) })
  }
}
