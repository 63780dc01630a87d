package import JSON

/// The replications that this server runs. The composition root supplies it; HTTPAPI does not know the implementation.
package struct Replications: Sendable {
  /// Why a replication does not go on.
  package struct Failure: Error, Sendable {
    /// CouchDB's word for it.
    let error: String
    let reason: String

    package init(error: String, reason: String) { (self.error, self.reason) = (error, reason) }
  }

  /// What became of a request.
  package enum Reply: Sendable {
    /// The replication of this id was ended.
    case cancelled(String)
    /// There is none to end.
    case absent
    /// The continuous replication of this id runs.
    case continuous(String)
    /// A replication runs once. The function waits for its end.
    case once(@Sendable () async -> Result<JSONObject, Failure>)
  }

  /// Begins or ends a replication, as a body says.
  let replicate: @Sendable (_ body: JSONNode, _ server: String) async throws -> Reply
  /// The elements of `_active_tasks`.
  let tasks: @Sendable () -> [JSONObject]
  /// The elements of `_scheduler/jobs`, ordered by id.
  let jobs: @Sendable () -> [JSONObject]
  /// One of them.
  let job: @Sendable (_ id: String) -> JSONObject?

  package init(
    replicate: @escaping @Sendable (JSONNode, String) async throws -> Reply,
    tasks: @escaping @Sendable () -> [JSONObject], jobs: @escaping @Sendable () -> [JSONObject],
    job: @escaping @Sendable (String) -> JSONObject?
  ) {
    (self.replicate, self.tasks, self.jobs, self.job) = (replicate, tasks, jobs, job)
  }
}
