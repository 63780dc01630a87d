import CouchSync
import Documents
package import JSON
package import Stores

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
  let documents: Documents
  let remotes: Remotes
  /// The rows of `GET /v1/limits` about them.
  package var limits: [(name: String, value: Int, unit: String)] = []

  /// The replications that the documents of a database describe.
  package struct Documents: Sendable {
    /// The elements of `_scheduler/docs`, ordered by id.
    let all: @Sendable () -> [JSONObject]
    /// One of them.
    let one: @Sendable (_ id: String) async throws -> JSONObject?
    /// Encrypts the credentials in a document.
    let sealed: @Sendable (JSONNode) async throws -> JSONNode
    /// Why a document can't be stored as it is; nil if it can.
    let refusal: @Sendable (JSONNode) -> ServiceError?
    /// Is told that documents were written.
    let noteChange: @Sendable () -> Void

    package init(
      all: @escaping @Sendable () -> [JSONObject],
      one: @escaping @Sendable (String) async throws -> JSONObject?,
      sealed: @escaping @Sendable (JSONNode) async throws -> JSONNode,
      refusal: @escaping @Sendable (JSONNode) -> ServiceError?,
      noteChange: @escaping @Sendable () -> Void
    ) {
      (self.all, self.one, self.sealed) = (all, one, sealed)
      (self.refusal, self.noteChange) = (refusal, noteChange)
    }

    /// Refuses documents with credentials as plain text, however they come.
    var writeRule: WriteRule {
      WriteRule(
        refusal: { _ in nil },
        refusalOfRevision: { [refusal] revision, _ in
          try refusal(ParsedJSON(revision.body.bytes, limits: .stored).root)
        })
    }
  }

  /// The remotes that people set for their own stores. The functions get the person's id.
  package struct Remotes: Sendable {
    /// Sets a remote, as a body says. It gets the user's name, too.
    let set: @Sendable (JSONNode, AccountID, String) async throws -> Void
    /// Forgets the remote, and says whether there was one.
    let remove: @Sendable (AccountID) async throws -> Bool
    /// Begins to copy at once, and says whether there is a remote.
    let start: @Sendable (AccountID) async throws -> Bool
    /// The answer of `GET /v1/sync`; nil without a remote.
    let status: @Sendable (AccountID) async throws -> JSONObject?

    package init(
      set: @escaping @Sendable (JSONNode, AccountID, String) async throws -> Void,
      remove: @escaping @Sendable (AccountID) async throws -> Bool,
      start: @escaping @Sendable (AccountID) async throws -> Bool,
      status: @escaping @Sendable (AccountID) async throws -> JSONObject?
    ) { (self.set, self.remove, self.start, self.status) = (set, remove, start, status) }
  }

  package init(
    replicate: @escaping @Sendable (JSONNode, String) async throws -> Reply,
    tasks: @escaping @Sendable () -> [JSONObject], jobs: @escaping @Sendable () -> [JSONObject],
    job: @escaping @Sendable (String) -> JSONObject?, documents: Documents,
    remotes: Remotes
  ) {
    (self.replicate, self.tasks, self.jobs, self.job) = (replicate, tasks, jobs, job)
    (self.documents, self.remotes) = (documents, remotes)
  }
}
