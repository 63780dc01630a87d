import Documents
package import JSON
import Stores
import Synchronization

/// What others see of the replications that documents describe.
extension ReplicatorDocuments {
  /// How far a document's replication has come, for the person whose it is.
  /// - Parameter stored: the document as it is now, which this server may not have read yet.
  func progress(of id: String, _ stored: JSONObject) async throws -> JSONObject {
    let known = state.withLock { $0.documents[id] }
    if let job = known?.job.flatMap({ jobs.job($0) }), known?.note == nil {
      return job.plainProgress
    }
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

  /// Lets the servers that share the database know how far the replications have come that run here.
  func publish() async throws {
    let (documents, earlier) = state.withLock { ($0.documents, $0.published) }
    var present: [String: JSONObject] = [:]
    for (id, document) in documents where document.note == nil {
      guard let job = document.job.flatMap({ jobs.job($0) }) else { continue }
      present[id] = job.plainProgress
    }
    var changed: [String: JSONObject?] = [:]
    for (id, progress) in present where progress != earlier[id] { changed[id] = progress }
    for id in earlier.keys where present[id] == nil { changed[id] = .some(nil) }
    guard !changed.isEmpty else { return }
    try await database.publish(changed)
    state.withLock { $0.published = present }
  }

  /// The elements of `_scheduler/docs`, ordered by id.
  package var scheduled: [JSONObject] {
    state.withLock { Array($0.documents.values) }
      .sorted { $0.id.text.utf8.lexicographicallyPrecedes($1.id.text.utf8) }.map(element)
  }

  /// One of them.
  package func scheduled(_ id: String) -> JSONObject? {
    state.withLock { $0.documents[id] }.map(element)
  }

  private func element(_ document: ReplicatorDocument) -> JSONObject {
    document.scheduled(in: database.name.text, document.job.flatMap { jobs.job($0) })
  }
}
