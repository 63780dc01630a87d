import JSON
import Stores

@testable import HTTPAPI

extension Replications {
  /// Replications for tests. The one with source `slow` never ends, that of `absent` fails, and any other one answers its
  /// server's id. A continuous one has the id `1+continuous`, which can be ended.
  static let scripted = Replications(
    replicate: { body, server in
      if body["cancel"]?.bool == true {
        return body["id"]?.string == "1+continuous" ? .cancelled("1+continuous") : .absent
      }
      guard body["continuous"]?.bool != true else { return .continuous("1+continuous") }
      switch body["source"]?.string {
      case "slow": return .once { await Self.never() }
      case "absent":
        return .once { .failure(Failure(error: "db_not_found", reason: "could not open absent")) }
      default: return .once { .success(["session_id": .string(server)]) }
      }
    },
    tasks: { [["type": "replication"]] },
    jobs: { ["1+continuous", "2", "3"].map { Self.scripted($0) } },
    job: { $0 == "1+continuous" ? Self.scripted($0) : nil },
    documents: Documents(
      all: { ["a", "b", "c"].map { Self.document($0) } },
      one: { ["a", "b", "c"].contains($0) ? Self.document($0) : nil },
      sealed: { document in
        let members = document.members.filter { $0.name != "secret" }
        return try ParsedJSON(
          JSONValue.object(JSONObject(members.map { ($0.name, $0.value.value) })).bytes,
          limits: .document
        ).root
      },
      refusal: { $0["secret"] == nil ? nil : ServiceError(.forbidden, "a secret") },
      noteChange: {}),
    remotes: Remotes(
      set: { body, _, _ in
        if body["url"]?.string == nil { throw ServiceError.badRequest("`url` is missing") }
      },
      remove: { _ in true }, start: { _ in true },
      status: { _ in
        [
          "url": "https://host/db", "hasCredentials": true, "continuous": true, "direction": "pull",
          "pull": ["state": "running"],
        ]
      }))

  private static func document(_ id: String) -> JSONObject {
    [
      "database": "_replicator", "doc_id": .string(id), "id": "1", "source": "a", "target": "b",
      "state": "running", "info": .null, "error_count": 0, "last_updated": "1970-01-01T00:00:00Z",
      "start_time": "1970-01-01T00:00:00Z",
    ]
  }

  private static func scripted(_ id: String) -> JSONObject {
    [
      "id": .string(id), "source": "a", "target": "b", "info": [:], "history": [],
      "start_time": "1970-01-01T00:00:00Z",
    ]
  }

  private static func never() async -> Result<JSONObject, Failure> {
    while !Task.isCancelled { try? await Task.sleep(for: .seconds(3_600)) }
    return .success([:])
  }
}
