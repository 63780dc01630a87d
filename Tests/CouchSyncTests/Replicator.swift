import CouchSync
import Documents
import Stores
import Testing

/// Copies one database's changes to another by the protocol's requests, in the same order as PouchDB and
/// CouchDB's replicator.
struct Replicator {
  let source: Couch
  let target: Couch
  let id: LocalID
  let batch: Int

  init(from source: Couch, to target: Couch, id: String, batch: Int = 7) throws {
    self.source = source
    self.target = target
    self.id = try LocalID(client: "_local/" + id)
    self.batch = batch
  }

  /// Copies until nothing is left. Returns the number of revisions that were sent.
  func run() async throws -> Int {
    var since = try await checkpoint()
    var sent = 0
    while true {
      let page = try await source.changes(
        ("style", "all_docs"), ("since", since), ("limit", "\(batch)"))
      guard !page.rows.isEmpty else { return sent }
      sent += try await copy(page)
      since = page.last.text
      try await remember(since)
    }
  }

  private func checkpoint() async throws -> String {
    do {
      let found = try await target.database.local(id)
      let ours = try await source.database.local(id)
      let (theirs, mine) = (found.json["last_seq"], ours.json["last_seq"])
      return theirs == mine ? theirs?.string ?? "0" : "0"
    } catch {
      #expect(ServiceError(error)?.code == .missing)
      return "0"
    }
  }

  private func remember(_ since: String) async throws {
    for couch in [target, source] {
      var revision = ""
      if let found = try? await couch.database.local(id) {
        revision = #""_rev":"\#(found.json["_rev"]?.string ?? "")","#
      }
      let body = try json(#"{"_id":"\#(id)",\#(revision)"last_seq":"\#(since)"}"#)
      _ = try await couch.database.putLocal(id, LocalWrite(body))
    }
  }

  private func copy(_ page: ChangesPage) async throws -> Int {
    let asked = JSONObject(
      page.values.map { row in
        (row["id"]?.string ?? "", .array((row["changes"]?.array ?? []).compactMap { $0["rev"] }))
      })
    let request = try await RevisionsRequest(parsed(.object(asked)))
    let difference = try await target.database.revisionsDifference(request).json
    var wanted: [JSONValue] = []
    for (id, missing) in difference.object?.members ?? [] {
      for revision in missing["missing"]?.array ?? [] {
        wanted.append(["id": .string(id), "rev": revision])
      }
    }
    guard !wanted.isEmpty else { return 0 }
    let got = try await source.database.bulkGet(
      BulkGetRequest(
        parsed(["docs": .array(wanted)]), query([("revs", "true"), ("latest", "true")])))
    let documents = (got.json["results"]?.array ?? []).flatMap { result in
      (result["docs"]?.array ?? []).compactMap { $0["ok"] }
    }
    #expect(documents.count >= wanted.count)
    let answer = try await target.database.bulkDocuments(
      BulkRequest(parsed(["docs": .array(documents), "new_edits": false])))
    #expect(answer.text == "[]")
    return documents.count
  }

  private func parsed(_ value: JSONValue) throws -> JSONNode {
    try CouchBody.object(value.bytes)
  }
}
