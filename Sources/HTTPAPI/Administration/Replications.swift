import CouchSync
package import Documents
package import Stores

/// The replications that this server runs. The composition root supplies it; HTTPAPI does not know the implementation.
package protocol Replications: Sendable {
  /// Begins or ends a replication, as a body says.
  /// - Parameter user: who asks.
  func replicate(
    _ body: JSONNode, on server: String, by user: String?
  ) async throws -> ReplicationReply
  /// The elements of `_active_tasks`.
  var activeTasks: [JSONObject] { get }
  /// The elements of `_scheduler/jobs`, ordered by id.
  var scheduledJobs: [JSONObject] { get }
  /// One of them.
  func scheduledJob(_ id: String) -> JSONObject?
  /// The elements of `_scheduler/docs`, ordered by id.
  var scheduledDocuments: [JSONObject] { get }
  /// One of them.
  func scheduledDocument(_ id: String) async throws -> JSONObject?
  /// Checks a document that describes a replication before a client writes it.
  /// - Returns: the document, which names its owner.
  /// - Throws: 403 for one that is malformed.
  func checked(_ document: JSONNode, by user: String?) throws -> JSONNode
  /// Encrypts the credentials in a document that describes a replication.
  func sealed(_ document: JSONNode) async throws -> JSONNode
  /// Why such a document can't be stored as it is; nil if it can.
  func refusal(of document: JSONNode) -> ServiceError?
  /// Is told that such documents were written.
  func noteDocuments()
  /// Sets a person's remote, as a body says. It gets the user's name, too.
  func setRemote(_ body: JSONNode, of person: AccountID, named name: String) async throws
  /// Forgets the remote, and says whether there was one.
  func removeRemote(of person: AccountID) async throws -> Bool
  /// Begins to copy at once, and says whether there is a remote.
  func startRemote(of person: AccountID) async throws -> Bool
  /// The answer of `GET /v1/sync`; nil without a remote.
  func remoteStatus(of person: AccountID) async throws -> JSONObject?
  /// The rows of `GET /v1/limits` about them.
  var limits: [(name: String, value: Int, unit: String)] { get }
}

extension Replications {
  /// Refuses documents with credentials as plain text, however they come, and those that are made here and describe no
  /// replication, also as a copy or by an attachment.
  var writeRule: WriteRule {
    WriteRule(
      refusal: { _ in nil },
      refusalOfRevision: { revision, _ in
        let document = try ParsedJSON(revision.body.bytes, limits: .stored).root
        let isTold = revision.isDeleted || revision.isReplicated || revision.id.isDesign
        if !isTold { _ = try checked(document, by: nil) }
        return refusal(of: document)
      })
  }
}

/// What became of a request to replicate.
package enum ReplicationReply: Sendable {
  /// Why a replication does not go on.
  package struct Failure: Error, Sendable {
    /// CouchDB's word for it.
    let error: String
    let reason: String

    package init(error: String, reason: String) { (self.error, self.reason) = (error, reason) }
  }

  /// The replication of this id was ended.
  case cancelled(String)
  /// There is none to end.
  case absent
  /// The continuous replication of this id runs.
  case continuous(String)
  /// A replication runs once. The function waits for its end.
  case once(@Sendable () async -> Result<JSONObject, Failure>)
}
