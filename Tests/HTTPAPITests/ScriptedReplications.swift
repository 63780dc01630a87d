import Documents
import Stores

@testable import HTTPAPI

/// Replications for tests. The one with source `absent` fails, and any other one answers its server's id. A continuous one
/// has the id `1+continuous`, which can be ended.
struct ScriptedReplications: Replications {
  func replicate(_ body: JSONNode, on server: String, by user: String?) -> ReplicationReply {
    if body["cancel"]?.bool == true {
      return body["id"]?.string == "1+continuous" ? .cancelled("1+continuous") : .absent
    }
    guard body["continuous"]?.bool != true else { return .continuous("1+continuous") }
    switch body["source"]?.string {
    case "absent":
      return .once { .failure(.init(error: "db_not_found", reason: "could not open absent")) }
    default: return .once { .success(["session_id": .string(server)]) }
    }
  }

  var activeTasks: [JSONObject] { [["type": "replication"]] }
  var scheduledJobs: [JSONObject] { ["1+continuous", "2", "3"].map { Self.scripted($0) } }
  func scheduledJob(_ id: String) -> JSONObject? {
    id == "1+continuous" ? Self.scripted(id) : nil
  }

  var scheduledDocuments: [JSONObject] { ["a", "b", "c"].map { Self.document($0) } }
  func scheduledDocument(_ id: String) -> JSONObject? {
    ["a", "b", "c"].contains(id) ? Self.document(id) : nil
  }
  func checked(_ document: JSONNode, by user: String?) throws -> JSONNode {
    if document["wrong"] != nil { throw ServiceError(.forbidden, "it is wrong") }
    return document
  }
  func sealed(_ document: JSONNode) throws -> JSONNode {
    let members = document.members.filter { $0.name != "secret" }
    return try ParsedJSON(
      JSONValue.object(JSONObject(members.map { ($0.name, $0.value.value) })).bytes,
      limits: .document
    ).root
  }
  func refusal(of document: JSONNode) -> ServiceError? {
    document["secret"] == nil ? nil : ServiceError(.forbidden, "a secret")
  }
  func noteDocuments() {}

  func setRemote(_ body: JSONNode, of person: AccountID, named name: String) throws {
    if body["url"]?.string == nil { throw ServiceError.badRequest("`url` is missing") }
  }
  func removeRemote(of person: AccountID) -> Bool { true }
  func startRemote(of person: AccountID) -> Bool { true }
  func remoteStatus(of person: AccountID) -> JSONObject? {
    [
      "url": "https://host/db", "hasCredentials": true, "continuous": true, "direction": "pull",
      "pull": ["state": "running"],
    ]
  }

  var limits: [(name: String, value: Int, unit: String)] { [] }

  /// `b` has failed, the others run.
  private static func document(_ id: String) -> JSONObject {
    [
      "database": "_replicator", "doc_id": .string(id), "id": "1", "source": "a", "target": "b",
      "state": id == "b" ? "failed" : "running", "info": .null, "error_count": 0,
      "last_updated": "1970-01-01T00:00:00Z",
      "start_time": "1970-01-01T00:00:00Z",
    ]
  }

  private static func scripted(_ id: String) -> JSONObject {
    [
      "id": .string(id), "source": "a", "target": "b", "info": [:], "history": [],
      "start_time": "1970-01-01T00:00:00Z",
    ]
  }
}
